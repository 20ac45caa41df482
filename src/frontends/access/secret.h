// SPDX-License-Identifier: Apache-2.0
// Secret: what a client has to know, kept as a digest only, so that neither a core dump nor the
// time of a comparison tells it. Immutable, thread-safe.
#ifndef NEREID_FRONTENDS_ACCESS_SECRET_H_
#define NEREID_FRONTENDS_ACCESS_SECRET_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <array>
#include <cstdint>
#include <string>

namespace nereid {

class Secret {
 public:
  explicit Secret(absl::string_view text);

  // In a time that does not depend on where they differ.
  bool operator==(const Secret& other) const;

 private:
  std::array<uint8_t, 32> digest_;  // SHA-256
};

// 64 hexadecimal digits that nobody can guess: 32 bytes of OpenSSL's random generator. INTERNAL if
// the system has none to give.
absl::StatusOr<std::string> RandomToken();

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_SECRET_H_
