// SPDX-License-Identifier: Apache-2.0
// Asks the decoupled model `countdown`, which answers one request with many responses, and takes
// each response when it comes. Then asks for more than it wants to hear, and gives up after two:
// what the model has not sent yet it does not send.
//
//   stream REPOSITORY [BACKENDS]      for instance: stream examples/embedding/models
#include <exception>
#include <iostream>

#include "embed.h"

namespace {

// Prints the numbers from `from` down, `most` at most.
void Count(const embed::Server& server, const embed::Allocator& allocator, int32_t from, int most) {
  embed::Call call(server.get(), "countdown");
  call.AddInput<int32_t>("FROM", TRITONSERVER_TYPE_INT32, {1}, {&from, 1});
  call.Send(allocator);
  for (int i = 0; i < most; ++i) {
    const embed::Response response = call.Next();
    if (response == nullptr) break;
    std::cout << (i > 0 ? " " : "") << embed::Output<int32_t>(response.get(), "NUMBER")[0]
              << std::flush;
  }
  std::cout << "\n";
  // The end of `call` cancels what has not come yet.
}

void Run(const std::string& repository, const std::string& backends) {
  const embed::Allocator allocator;
  embed::Server server(repository, backends);
  server.Load("countdown");
  Count(server, allocator, 5, 5);
  Count(server, allocator, 600, 2);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: stream REPOSITORY [BACKENDS]\n";
    return 2;
  }
  Run(argv[1], argc > 2 ? argv[2] : "");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
