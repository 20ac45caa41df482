// SPDX-License-Identifier: Apache-2.0
// How much memory the process may take, and how much of it requests may have in flight. Stateless.
#ifndef NEREID_APPS_NEREID_MEMORY_LIMIT_H_
#define NEREID_APPS_NEREID_MEMORY_LIMIT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>

#include "settings.h"

namespace nereid {

// The variable by which a platform tells the limit of a container, in bytes.
inline constexpr char kMemoryLimitVariable[] = "NEREID_MEMORY_LIMIT";

// The limit of the process's control group (version 1 or 2) by the files under `root`, "" on a real
// machine: the smallest on the way to the top. 0: there is none.
uint64_t ReadMemoryLimit(const std::string& root);

// The bytes in flight for a process that may take `limit` bytes: half of what is left beside what
// the server needs besides (docs/operate/limits.md), so that the other half is for the models. At
// most `most`, and at least kLeastInFlightBytes.
inline constexpr uint64_t kLeastInFlightBytes = 16 << 20;
uint64_t InFlightBytesUnder(uint64_t limit, uint64_t most);

// Sets settings->server.max_in_flight_bytes if the command line does not, and says so in the log.
// `told`: the value of kMemoryLimitVariable, empty if there is none; INVALID_ARGUMENT if it is no
// number.
absl::Status SetInFlightBytes(const std::string& root, const std::string& told, Settings* settings);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_MEMORY_LIMIT_H_
