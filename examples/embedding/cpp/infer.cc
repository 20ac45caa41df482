// SPDX-License-Identifier: Apache-2.0
// Loads the model `digits`, asks it which digit an image shows and waits for the answer, which the
// model may compute on the thread that waits; then sends eight requests at once and takes the
// answers as they come. The outputs are written into memory of
// the program's own allocator (Allocator in embed.h).
//
//   infer REPOSITORY [BACKENDS]       for instance: infer examples/models
#include <array>
#include <exception>
#include <iostream>

#include "embed.h"

namespace {

// 8x8 pixels from 0 (paper) to 16 (ink): a three.
constexpr std::array<float, 64> kImage = {
    0, 0, 7,  15, 13, 1,  0, 0,  //
    0, 8, 13, 6,  15, 4,  0, 0,  //
    0, 2, 1,  13, 13, 0,  0, 0,  //
    0, 0, 2,  15, 11, 1,  0, 0,  //
    0, 0, 0,  1,  12, 12, 1, 0,  //
    0, 0, 0,  0,  1,  10, 8, 0,  //
    0, 0, 8,  4,  5,  14, 9, 0,  //
    0, 0, 7,  13, 13, 9,  0, 0,  //
};
constexpr int kAtOnce = 8;

std::unique_ptr<embed::Call> SendImage(const embed::Server& server,
                                       const embed::Allocator& allocator,
                                       void (embed::Call::*send)(const embed::Allocator&)) {
  auto call = std::make_unique<embed::Call>(server.get(), "digits");
  // A batch of one image.
  call->AddInput<float>("image", TRITONSERVER_TYPE_FP32, {1, 64}, kImage);
  (*call.*send)(allocator);
  return call;
}

int64_t AwaitDigit(embed::Call* call) {
  const embed::Response response = call->Next();
  return embed::Output<int64_t>(response.get(), "digit")[0];
}

void Run(const std::string& repository, const std::string& backends) {
  const embed::Allocator allocator;
  embed::Server server(repository, backends);
  server.Load("digits");
  std::cout << "this is a "
            << AwaitDigit(SendImage(server, allocator, &embed::Call::SendInline).get()) << "\n";

  std::vector<std::unique_ptr<embed::Call>> calls;
  for (int i = 0; i < kAtOnce; ++i) {
    calls.push_back(SendImage(server, allocator, &embed::Call::Send));
  }
  for (const auto& call : calls) AwaitDigit(call.get());
  std::cout << calls.size() << " of " << kAtOnce << " requests in flight were answered\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: infer REPOSITORY [BACKENDS]\n";
    return 2;
  }
  Run(argv[1], argc > 2 ? argv[2] : "");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
