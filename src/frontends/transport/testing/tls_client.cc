// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/testing/tls_client.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace nereid::transport {
namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;

BioPtr Reader(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

std::shared_ptr<X509> Certificate(const std::string& pem) {
  return {PEM_read_bio_X509(Reader(pem).get(), nullptr, nullptr, nullptr), &X509_free};
}

std::shared_ptr<EVP_PKEY> Key(const std::string& pem) {
  return {PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
}

}  // namespace

void TlsClient::Free::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
void TlsClient::Free::operator()(SSL* ssl) const { SSL_free(ssl); }

TlsClient::TlsClient(int fd, const Options& options)
    : fd_(fd), context_(SSL_CTX_new(TLS_client_method())) {
  SSL_CTX* const context = context_.get();
  if (options.max_version != 0 && options.max_version < TLS1_2_VERSION) {
    SSL_CTX_set_security_level(context, 0);  // or it would not even try
  }
  SSL_CTX_set_min_proto_version(context, options.min_version);
  SSL_CTX_set_max_proto_version(context, options.max_version);
  if (!options.root.empty()) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), Certificate(options.root).get());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (!options.identity.key.empty()) {
    SSL_CTX_use_certificate(context, Certificate(options.identity.certificate).get());
    SSL_CTX_use_PrivateKey(context, Key(options.identity.key).get());
  }
  ssl_.reset(SSL_new(context));
  std::string wire;
  for (const std::string& protocol : options.alpn) {
    wire += static_cast<char>(protocol.size()) + protocol;
  }
  if (!wire.empty()) {
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(wire.data()),
                        static_cast<unsigned int>(wire.size()));
  }
  if (options.max_fragment_code != 0) {
    SSL_set_tlsext_max_fragment_length(ssl_.get(), static_cast<uint8_t>(options.max_fragment_code));
  }
  SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl_.get());
}

TlsClient::~TlsClient() = default;

bool TlsClient::Pump() {
  unsent_ += TakeOutput();
  while (!unsent_.empty()) {
    const ssize_t sent = send(fd_, unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent <= 0) break;
    unsent_.erase(0, static_cast<size_t>(sent));
  }
  std::array<char, 65536> space;
  while (true) {
    const ssize_t got = recv(fd_, space.data(), space.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    GiveInput({space.data(), static_cast<size_t>(got)});
  }
}

bool TlsClient::Handshake() {
  ERR_clear_error();
  return Judge(SSL_do_handshake(ssl_.get()));
}

void TlsClient::Write(absl::string_view text) {
  ERR_clear_error();
  if (!text.empty()) Judge(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())));
}

std::string TlsClient::Read() {
  std::string all;
  std::array<char, 65536> space;
  ERR_clear_error();
  int got;
  while ((got = SSL_read(ssl_.get(), space.data(), space.size())) > 0) {
    all.append(space.data(), static_cast<size_t>(got));
  }
  Judge(got);
  return all;
}

std::string TlsClient::TakeOutput() {
  BIO* const bio = SSL_get_wbio(ssl_.get());
  std::string output(BIO_ctrl_pending(bio), '\0');
  if (!output.empty()) BIO_read(bio, output.data(), static_cast<int>(output.size()));
  return output;
}

void TlsClient::GiveInput(absl::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
}

bool TlsClient::Judge(int outcome) {
  if (outcome > 0) return true;
  const int error = SSL_get_error(ssl_.get(), outcome);
  ended_ = ended_ || error == SSL_ERROR_ZERO_RETURN;
  failed_ = failed_ || error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL;
  ERR_clear_error();
  return false;
}

std::string TlsClient::alpn() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return std::string(reinterpret_cast<const char*>(name), size);
}

std::string TlsClient::ServerName() const {
  X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr) return "";
  std::array<char, 256> name;
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            name.size());
  return name.data();
}

std::shared_ptr<SSL_SESSION> TlsClient::Session() const {
  return {SSL_get1_session(ssl_.get()), &SSL_SESSION_free};
}

void TlsClient::Resume(const std::shared_ptr<SSL_SESSION>& session) {
  SSL_set_session(ssl_.get(), session.get());
}

}  // namespace nereid::transport
