// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace nereid::transport {
namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using KeyPtr = std::shared_ptr<EVP_PKEY>;
using CertificatePtr = std::shared_ptr<X509>;

BioPtr Memory() { return {BIO_new(BIO_s_mem()), &BIO_free}; }

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string PemOf(X509* certificate) {
  const BioPtr bio = Memory();
  PEM_write_bio_X509(bio.get(), certificate);
  return TextOf(bio.get());
}

std::string PemOf(EVP_PKEY* key) {
  const BioPtr bio = Memory();
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio.get());
}

KeyPtr NewKey() { return KeyPtr(EVP_EC_gen("P-256"), &EVP_PKEY_free); }

void AddExtension(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// `issuer` null: signed by itself, an authority.
CertificatePtr NewCertificate(const std::string& name, EVP_PKEY* key, X509* issuer,
                              EVP_PKEY* issuer_key) {
  CertificatePtr made(X509_new(), &X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 7);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer == nullptr ? made.get() : issuer));
  X509_set_pubkey(made.get(), key);
  AddExtension(made.get(), NID_basic_constraints,
               issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  X509_sign(made.get(), issuer_key, EVP_sha256());
  return made;
}

}  // namespace

Authority::Authority(const std::string& name)
    : key_(NewKey()), certificate_(NewCertificate(name, key_.get(), nullptr, key_.get())) {}

std::string Authority::certificate() const { return PemOf(certificate_.get()); }

Identity Authority::Issue(const std::string& name) const {
  const KeyPtr key = NewKey();
  return {PemOf(NewCertificate(name, key.get(), certificate_.get(), key_.get()).get()),
          PemOf(key.get())};
}

std::string EncryptedKey(const std::string& key) {
  const BioPtr in(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())), &BIO_free);
  const KeyPtr plain(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  const BioPtr out = Memory();
  const unsigned char password[] = "word";
  PEM_write_bio_PKCS8PrivateKey(out.get(), plain.get(), EVP_aes_128_cbc(),
                                reinterpret_cast<const char*>(password), 4, nullptr, nullptr);
  return TextOf(out.get());
}

}  // namespace nereid::transport
