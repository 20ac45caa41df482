// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/string_view.h>

#include <utility>

#include "flags/flag_table.h"

namespace nereid {
namespace {

// Options about ports in groups whose other options are about the server.
constexpr absl::string_view kOthers[] = {
    "access-log",
    "access-log-sample",
    "allow-client-shm",
    "max-admin-body-bytes",
    "max-connection-requests",
    "max-waiting-stream-bytes",
    "metrics-address",
    "metrics-port",
};

FlagGroup Others(FlagGroup group) {
  FlagGroup others{group.title, {}};
  for (Flag& flag : group.flags) {
    if (absl::c_linear_search(kOthers, flag.name)) others.flags.push_back(std::move(flag));
  }
  return others;
}

}  // namespace

std::vector<FlagGroup> MakeFrontendTable(Settings* settings) {
  return {
      HttpFlags(settings),           GrpcFlags(settings),        TfsFlags(settings),
      AccessFlags(settings),         ConsoleFlags(settings),     TraceFlags(settings),
      Others(ServerFlags(settings)), Others(LogFlags(settings)), Others(MetricsFlags(settings))};
}

}  // namespace nereid
