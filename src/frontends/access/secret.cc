#include "frontends/access/secret.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace nereid {

Secret::Secret(absl::string_view text) {
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest_.data());
}

bool Secret::operator==(const Secret& other) const {
  return CRYPTO_memcmp(digest_.data(), other.digest_.data(), digest_.size()) == 0;
}

}  // namespace nereid
