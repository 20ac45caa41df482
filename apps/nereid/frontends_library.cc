// SPDX-License-Identifier: Apache-2.0
// libnereid_frontends.so: the ports of a server for programs that embed it.
#include <absl/strings/str_cat.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/caught.h"
#include "bound_ports.h"
#include "flags/command_line.h"
#include "flags/flag_table.h"
#include "flags/trace_environment.h"
#include "nereid/frontends.h"
#include "services.h"
#include "settings.h"

struct NEREID_Frontends {
  explicit NEREID_Frontends(nereid::Server* the_server)
      : server(the_server), services(the_server) {}

  nereid::Server* const server;
  nereid::Services services;
};

namespace nereid {
namespace {

// Time for the last traces to be written or sent.
constexpr Duration kTracesGrace = std::chrono::seconds(3);

TRITONSERVER_Error* ToError(const absl::Status& status) {
  TRITONSERVER_Error_Code code = TRITONSERVER_ERROR_INTERNAL;
  if (status.ok()) return nullptr;
  if (absl::IsInvalidArgument(status)) code = TRITONSERVER_ERROR_INVALID_ARG;
  if (absl::IsUnavailable(status)) code = TRITONSERVER_ERROR_UNAVAILABLE;
  if (absl::IsNotFound(status)) code = TRITONSERVER_ERROR_NOT_FOUND;
  return TRITONSERVER_ErrorNew(code, std::string(status.message()).c_str());
}

absl::StatusOr<NEREID_Frontends*> Start(TRITONSERVER_Server* server,
                                        const std::vector<std::string>& options) {
  Settings settings;
  settings.trace_environment = ReadTraceEnvironment(
      [](const char* name) { return std::getenv(name); }, &settings.trace.otlp);
  absl::Status status = ParseFrontendOptions(options, &settings);
  if (!status.ok()) return status;
  auto frontends = std::make_unique<NEREID_Frontends>(reinterpret_cast<Server*>(server));
  status = BindPorts(&settings);
  if (status.ok()) status = frontends->services.Start(settings);
  if (!status.ok()) return status;
  return frontends.release();
}

absl::Status Stop(NEREID_Frontends* frontends) {
  const Clock& clock = *frontends->server->clock();
  const uint32_t seconds = frontends->server->options().exit_timeout_secs;
  frontends->services.Announce();
  frontends->services.ClosePorts(clock.Now() + std::chrono::seconds(seconds));
  if (!frontends->services.EndRest()) {
    return absl::InternalError("a request for administration, or a compression, hangs");
  }
  if (!frontends->services.EndTracing(clock.Now() + kTracesGrace)) {
    return absl::InternalError("the last traces are lost: they take too long to be written");
  }
  delete frontends;
  return absl::OkStatus();
}

std::string OptionNames() {
  Settings defaults;
  std::string names;
  for (const FlagGroup& group : MakeFrontendTable(&defaults)) {
    for (const Flag& flag : group.flags) absl::StrAppend(&names, flag.name, "\n");
  }
  return names;
}

}  // namespace
}  // namespace nereid

extern "C" {

TRITONSERVER_Error* NEREID_FrontendsStart(TRITONSERVER_Server* server, const char* const* options,
                                          size_t option_count, NEREID_Frontends** frontends) try {
  const absl::StatusOr<NEREID_Frontends*> started =
      nereid::Start(server, std::vector<std::string>(options, options + option_count));
  if (started.ok()) *frontends = *started;
  return nereid::ToError(started.status());
} catch (...) {
  return nereid::ToError(nereid::CaughtStatus());
}

TRITONSERVER_Error* NEREID_FrontendsPort(NEREID_Frontends* frontends, const char* protocol,
                                         uint16_t* port) try {
  const std::string name = protocol;
  const nereid::Services& services = frontends->services;
  *port = 0;
  if (name == "http") *port = services.http_port();
  if (name == "grpc") *port = services.grpc_port();
  if (name == "metrics") *port = services.metrics_port();
  if (name == "tfs-http") *port = services.tfs_http_port();
  if (name == "tfs-grpc") *port = services.tfs_grpc_port();
  if (name == "console") *port = services.console_port();
  if (*port != 0) return nullptr;
  return nereid::ToError(absl::NotFoundError(absl::StrCat("there is no open port '", name, "'")));
} catch (...) {
  return nereid::ToError(nereid::CaughtStatus());
}

TRITONSERVER_Error* NEREID_FrontendsStop(NEREID_Frontends* frontends) try {
  return frontends == nullptr ? nullptr : nereid::ToError(nereid::Stop(frontends));
} catch (...) {
  return nereid::ToError(nereid::CaughtStatus());
}

const char* NEREID_FrontendsOptions(void) {
  static const std::string* const names = new std::string(nereid::OptionNames());
  return names->c_str();
}

}  // extern "C"
