// Asks the decoupled model `countdown`, which answers one request with many responses, and takes
// each response when it comes.
//
//   stream REPOSITORY [BACKENDS]      for instance: stream examples/embedding/models
#include <exception>
#include <iostream>

#include "embed.h"

namespace {

void Run(const std::string& repository, const std::string& backends) {
  const embed::Allocator allocator;
  embed::Server server(repository, backends);
  server.Load("countdown");
  embed::Call call(server.get(), "countdown");
  const int32_t from = 5;
  call.AddInput<int32_t>("FROM", TRITONSERVER_TYPE_INT32, {1}, {&from, 1});
  call.Send(allocator);
  while (const embed::Response response = call.Next()) {
    const int32_t number = embed::Output<int32_t>(response.get(), "NUMBER")[0];
    std::cout << number << (number > 1 ? " " : "\n") << std::flush;
  }
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
