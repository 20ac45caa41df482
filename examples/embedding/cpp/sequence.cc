// SPDX-License-Identifier: Apache-2.0
// Sends two sequences of requests to the model `running_total`, by turns. All requests of a
// sequence have the same id and go to the same instance, which keeps their sum.
//
//   sequence REPOSITORY [BACKENDS]    for instance: sequence examples/embedding/models
#include <exception>
#include <iostream>

#include "embed.h"

namespace {

constexpr int kLength = 3;

// The sum after one more value of the sequence.
float Add(const embed::Server& server, const embed::Allocator& allocator, uint64_t sequence,
          uint32_t flags, float value) {
  embed::Call call(server.get(), "running_total");
  call.AddInput<float>("VALUE", TRITONSERVER_TYPE_FP32, {1}, {&value, 1});
  embed::Check(TRITONSERVER_InferenceRequestSetCorrelationId(call.request(), sequence));
  embed::Check(TRITONSERVER_InferenceRequestSetFlags(call.request(), flags));
  call.Send(allocator);
  const embed::Response response = call.Next();
  return embed::Output<float>(response.get(), "TOTAL")[0];
}

void Run(const std::string& repository, const std::string& backends) {
  const embed::Allocator allocator;
  embed::Server server(repository, backends);
  server.Load("running_total");
  for (int step = 0; step < kLength; ++step) {
    const uint32_t flags = (step == 0 ? TRITONSERVER_REQUEST_FLAG_SEQUENCE_START : 0) |
                           (step + 1 == kLength ? TRITONSERVER_REQUEST_FLAG_SEQUENCE_END : 0);
    const float ones = Add(server, allocator, 1, flags, 1);
    const float tens = Add(server, allocator, 2, flags, 10);
    std::cout << "after " << step + 1 << ": " << ones << " and " << tens << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: sequence REPOSITORY [BACKENDS]\n";
    return 2;
  }
  Run(argv[1], argc > 2 ? argv[2] : "");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
