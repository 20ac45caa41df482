// SPDX-License-Identifier: Apache-2.0
#include "console_port.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <iostream>
#include <utility>

#include "backend_options.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "filesystem/local_file_system.h"
#include "frontends/access/secret.h"
#include "lifecycle/repository_check.h"
#include "repository/single_model.h"

namespace nereid {
namespace {

constexpr uint64_t kMostConnections = 256;

const char* NameOf(ModelControlMode mode) {
  switch (mode) {
    case ModelControlMode::kNone:
      return "none";
    case ModelControlMode::kPoll:
      return "poll";
    case ModelControlMode::kExplicit:
      return "explicit";
    case ModelControlMode::kOnDemand:
      return "ondemand";
  }
  return "";
}

// What the page has to know and no route of the API tells.
std::string SettingsJson(const Server& server, ShownHttpPort shown) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Add("model_control", NameOf(server.options().control_mode));
  w.Add("http_port", shown.port);
  w.Add("http_tls", shown.tls);
  w.EndObject();
  return json;
}

// What `nereid check` would say about the repositories of the server.
absl::StatusOr<std::string> ProblemsOf(const ServerOptions& server) {
  const LocalFileSystem files;
  CheckOptions options;
  options.layout.repositories = server.model_repositories;
  options.layout.namespacing = server.model_namespacing;
  FindSingleModels(files, server.single_model_name, &options.layout);
  options.model_config_name = server.model_config_name;
  options.auto_complete_config = server.auto_complete_config;
  options.backend_directory = server.backend_directory;
  options.check_parameters = &CheckParametersByTable;
  ASSIGN_OR_RETURN(const std::vector<CheckedModel> models, CheckRepositories(files, options));
  return ProblemsToJson(models);
}

HttpServerOptions PortOptions(const ConsoleSettings& settings, HttpServerOptions options) {
  options.address = settings.address;
  options.port = settings.port;
  options.bound = settings.bound;
  options.reuse_port = false;
  options.thread_count = 1;
  options.max_connections = kMostConnections;
  // Browsers speak HTTP/1.1 without TLS, which whoever stands in front of the port adds.
  options.tls = {};
  options.http2 = false;
  return options;
}

bool IsLoopback(const std::string& address) {
  return address == "localhost" || address == "::1" || absl::StartsWith(address, "127.");
}

// The host of the link: that of the port, or of this machine if it listens on all addresses.
std::string LinkHost(const std::string& address) {
  if (address == "0.0.0.0" || address == "::") return "localhost";
  return absl::StrContains(address, ':') ? absl::StrCat("[", address, "]") : address;
}

}  // namespace

ConsolePort::ConsolePort(Server* server, const HttpExecutors& executors,
                         const HttpFrontendOptions& options)
    : server_(server),
      admin_(executors.admin),
      access_(options.access),
      owner_rest_(server, executors, OwnerApiOptions(options)),
      key_holder_rest_(server, executors, ConsoleApiOptions(options)),
      metrics_(server, executors.admin, CorsPolicy::Unchecked()) {}

absl::Status ConsolePort::Start(const ConsoleSettings& settings, HttpServerOptions http,
                                ShownHttpPort shown) {
  ASSIGN_OR_RETURN(const std::string token, RandomToken());
  ConsoleOptions options{
      settings.address, token, access_, SettingsJson(*server_, shown), {}, admin_};
  options.reports["/console/history"] = [server = server_] { return server->HistoryJson(); };
  options.reports["/console/problems"] = [server = server_] {
    return ProblemsOf(server->options());
  };
  frontend_ = std::make_unique<ConsoleFrontend>(
      ConsoleFrontend::Handlers{&owner_rest_, &key_holder_rest_, &metrics_}, options);
  ASSIGN_OR_RETURN(port_,
                   HttpServer::Start(PortOptions(settings, std::move(http)), frontend_.get()));
  server_->KeepHistory();
  LOG_INFO << "Started Console at " << settings.address << ":" << port_->port();
  if (!IsLoopback(settings.address)) {
    LOG_WARNING << "other machines can reach the console, which has no TLS "
                   "(--console-address): who listens in learns its token";
  }
  std::cerr << absl::StrCat("Console: http://", LinkHost(settings.address), ":", port_->port(),
                            "/#token=", token, "\n")
            << std::flush;
  return absl::OkStatus();
}

void ConsolePort::Stop(TimePoint deadline) {
  if (port_ != nullptr) port_->Stop(deadline);
}

}  // namespace nereid
