// SPDX-License-Identifier: Apache-2.0
#include "memory_limit.h"

#include <absl/algorithm/container.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/log.h"

namespace nereid {
namespace {

// What the server takes besides its models, the bytes in flight and little else.
constexpr uint64_t kBesides = uint64_t{192} << 20;
// Version 1 says by such numbers that there is no limit.
constexpr uint64_t kUnlimited = uint64_t{1} << 60;

uint64_t Smaller(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

// "max", of version 2, is no number.
uint64_t ReadLimit(const std::string& path) {
  std::ifstream file(path);
  uint64_t limit = 0;
  return file >> limit && limit < kUnlimited ? limit : 0;
}

// The smallest limit of `path` and the groups above it. In a container the path may be that of the
// host while only the container's own group is mounted: folders that are not there have no limit.
uint64_t AlongPath(const std::string& mount, std::string path, const char* file) {
  uint64_t smallest = ReadLimit(absl::StrCat(mount, "/", file));
  while (path.size() > 1) {
    smallest = Smaller(smallest, ReadLimit(absl::StrCat(mount, path, "/", file)));
    path.resize(path.rfind('/'));
  }
  return smallest;
}

uint64_t Mebibytes(uint64_t bytes) { return bytes >> 20; }

}  // namespace

uint64_t ReadMemoryLimit(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  uint64_t smallest = 0;
  std::ifstream file(root + "/proc/self/cgroup");
  // Lines "<id>:<controllers>:<path>"; version 2 has no controllers.
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || parts[2].empty() || parts[2][0] != '/') continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    if (parts[1].empty()) {
      smallest = Smaller(smallest, AlongPath(mount, parts[2], "memory.max"));
    } else if (absl::c_linear_search(controllers, "memory")) {
      smallest = Smaller(smallest, AlongPath(mount + "/memory", parts[2], "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

uint64_t InFlightBytesUnder(uint64_t limit, uint64_t most) {
  const uint64_t left = limit - std::min(limit, kBesides);
  return std::min(most, std::max(left / 2, kLeastInFlightBytes));
}

absl::Status SetInFlightBytes(const std::string& root, const std::string& told,
                              Settings* settings) {
  uint64_t limit = 0;
  if (!told.empty() && !absl::SimpleAtoi(told, &limit)) {
    return absl::InvalidArgumentError(absl::StrCat("Bad option: \"", kMemoryLimitVariable,
                                                   "\".\nInvalid value. Got ", told,
                                                   " (use a number of bytes)"));
  }
  if (settings->max_in_flight_bytes.has_value()) return absl::OkStatus();
  uint64_t* const in_flight = &settings->server.max_in_flight_bytes;
  limit = Smaller(limit, ReadMemoryLimit(root));
  if (limit == 0 || InFlightBytesUnder(limit, *in_flight) == *in_flight) return absl::OkStatus();
  *in_flight = InFlightBytesUnder(limit, *in_flight);
  LOG_INFO << "at most " << Mebibytes(*in_flight) << " MiB of requests and responses in flight, "
           << "because the memory of the process is limited to " << Mebibytes(limit)
           << " MiB: --max-in-flight-bytes says otherwise";
  return absl::OkStatus();
}

}  // namespace nereid
