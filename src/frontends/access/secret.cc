// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/secret.h"

#include <absl/strings/escaping.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

namespace nereid {

Secret::Secret(absl::string_view text) {
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest_.data());
}

bool Secret::operator==(const Secret& other) const {
  return CRYPTO_memcmp(digest_.data(), other.digest_.data(), digest_.size()) == 0;
}

absl::StatusOr<std::string> RandomToken() {
  std::array<unsigned char, 32> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return absl::InternalError("the system has no random bytes for a token");
  }
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace nereid
