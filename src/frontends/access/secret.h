// Secret: what a client has to know, kept as a digest only, so that neither a core dump nor the
// time of a comparison tells it. Immutable, thread-safe.
#ifndef NEREID_FRONTENDS_ACCESS_SECRET_H_
#define NEREID_FRONTENDS_ACCESS_SECRET_H_

#include <absl/strings/string_view.h>

#include <array>
#include <cstdint>

namespace nereid {

class Secret {
 public:
  explicit Secret(absl::string_view text);

  // In a time that does not depend on where they differ.
  bool operator==(const Secret& other) const;

 private:
  std::array<uint8_t, 32> digest_;  // SHA-256
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_SECRET_H_
