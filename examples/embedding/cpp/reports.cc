// SPDX-License-Identifier: Apache-2.0
// What a server says about itself: the models of its repository, a model's statistics, and the
// metrics page. Then unloads the model, and ends the server in two steps.
//
//   reports REPOSITORY [BACKENDS]     for instance: reports examples/models
#include <exception>
#include <iostream>
#include <sstream>
#include <string_view>

#include "embed.h"

namespace {

// A message of the server, which is JSON.
std::string Text(TRITONSERVER_Message* message) {
  const embed::Owned<TRITONSERVER_Message, &TRITONSERVER_MessageDelete> owned(message);
  const char* text = nullptr;
  size_t size = 0;
  embed::Check(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
  return {text, size};
}

std::string MetricsPage(TRITONSERVER_Server* server) {
  TRITONSERVER_Metrics* metrics = nullptr;
  embed::Check(TRITONSERVER_ServerMetrics(server, &metrics));
  const embed::Owned<TRITONSERVER_Metrics, &TRITONSERVER_MetricsDelete> owned(metrics);
  const char* text = nullptr;
  size_t size = 0;
  embed::Check(
      TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &text, &size));
  return {text, size};
}

void Run(const std::string& repository, const std::string& backends) {
  embed::Server server(repository, backends);
  server.Load("digits");
  TRITONSERVER_Message* message = nullptr;
  embed::Check(TRITONSERVER_ServerModelIndex(server.get(), 0, &message));
  std::cout << "models: " << Text(message) << "\n";
  embed::Check(TRITONSERVER_ServerModelStatistics(server.get(), "digits", -1, &message));
  std::cout << "statistics: " << Text(message) << "\n";
  std::istringstream page(MetricsPage(server.get()));
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("nv_inference_request_success")) std::cout << line << "\n";
  }
  // Requests in flight still finish; the model is gone when the last one has.
  embed::Check(TRITONSERVER_ServerUnloadModel(server.get(), "digits"));
  // Refuses new requests, waits for those in flight (TRITONSERVER_ServerOptionsSetExitTimeout says
  // for how long), and unloads all models. The server's destructor does this, too.
  embed::Check(TRITONSERVER_ServerStop(server.get()));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: reports REPOSITORY [BACKENDS]\n";
    return 2;
  }
  Run(argv[1], argc > 2 ? argv[2] : "");
  std::cout << "the server has ended\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
