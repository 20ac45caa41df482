// SPDX-License-Identifier: Apache-2.0
// Certificates made up for tests. Immutable.
#ifndef NEREID_FRONTENDS_TRANSPORT_TESTING_CERTIFICATES_H_
#define NEREID_FRONTENDS_TRANSPORT_TESTING_CERTIFICATES_H_

#include <openssl/types.h>

#include <memory>
#include <string>

namespace nereid::transport {

// Both PEM.
struct Identity {
  std::string certificate, key;
};

class Authority {
 public:
  explicit Authority(const std::string& name);

  // Its own certificate, PEM.
  std::string certificate() const;
  // A new key, and a certificate for it whose common name is `name`.
  Identity Issue(const std::string& name) const;

 private:
  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> certificate_;
};

// `key` as PEM under a password.
std::string EncryptedKey(const std::string& key);

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TESTING_CERTIFICATES_H_
