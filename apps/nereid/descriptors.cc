// SPDX-License-Identifier: Apache-2.0
#include "descriptors.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "base/log.h"

namespace nereid {
namespace {

constexpr char kSoftLimitVariable[] = "NEREID_SOFT_FILE_LIMIT";

uint64_t OpenDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/fd", error);
  if (error) return 0;
  return static_cast<uint64_t>(std::distance(begin(all), end(all)));
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  setenv(kSoftLimitVariable, absl::StrCat(limit.rlim_cur).c_str(), /*overwrite=*/1);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) unsetenv(kSoftLimitVariable);
}

void SizeConnectionRoom(const Settings& settings, transport::ConnectionRoom* room) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const uint64_t most = transport::ConnectionRoom::MostFor(limit.rlim_cur, OpenDescriptors());
  std::vector<std::string> beyond;
  const auto check = [&](bool open, const char* option, uint64_t connections) {
    if (open && connections > most) beyond.push_back(absl::StrCat(option, "=", connections));
  };
  check(settings.allow_http, "--http-max-connections", settings.http.max_connections);
  check(settings.allow_grpc, "--grpc-max-connections", settings.grpc.max_connections);
  if (!beyond.empty()) {
    LOG_WARNING << absl::StrJoin(beyond, " and ") << " cannot be reached: the limit of "
                << limit.rlim_cur << " open files allows " << most
                << " connections, beyond which those that have been idle for longest are closed; "
                   "raise the hard limit (ulimit -Hn, LimitNOFILE)";
  }
  room->set_most(most);
}

}  // namespace nereid
