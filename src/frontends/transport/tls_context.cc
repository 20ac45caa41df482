// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/tls_context.h"

#include <absl/strings/str_cat.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid::transport {
namespace {

// Forward secrecy and authenticated encryption only, as HTTP/2 demands. The shortest key first: it
// is safe, and the fastest.
constexpr char kCiphersOfTls12[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr char kCiphersOfTls13[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

// What one recv may take from a socket: three records, for the same reason as
// UnsentBytes::kBatchBytes. OpenSSL has this memory only while it holds bytes.
constexpr size_t kReadBufferBytes = 48 * 1024;

struct FreeOpenSsl {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, FreeOpenSsl>;
using CertificatePtr = std::unique_ptr<X509, FreeOpenSsl>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeOpenSsl>;

// A file of `files`, with the name of the option that names it.
struct NamedFile {
  const char* what;
  const std::string& path;
  const char* option;  // behind the prefix
};

absl::StatusOr<std::string> ReadPem(const TlsFiles& files, const NamedFile& named) {
  const auto& [what, path, name] = named;
  const std::string option =
      files.option_prefix.empty() ? "" : absl::StrCat(" (", files.option_prefix, name, ")");
  if (path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("TLS needs a file with the ", what, option));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Inserting nothing would count as a failure; an empty file is refused for its content.
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || !text) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the ", what, " from '", path, "'", option));
  }
  return text.str();
}

// The oldest error of this thread's queue, which is the cause of the others. Empties the queue.
std::string OpenSslReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  std::string text = reason == nullptr ? "unknown error" : reason;
  ERR_clear_error();
  return text;
}

// Instead of asking on the terminal for the password of an encrypted key. `asked` is a bool* or
// null.
int NoPassword(char*, int, int, void* asked) {
  if (asked != nullptr) *static_cast<bool*>(asked) = true;
  return -1;
}

BioPtr Reader(const std::string& pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

CertificatePtr NextCertificate(BIO* bio) {
  return CertificatePtr(PEM_read_bio_X509(bio, nullptr, NoPassword, nullptr));
}

// Whether the last attempt to read from a file with several certificates found its end.
bool AtEnd() {
  const unsigned long error = ERR_peek_last_error();  // NOLINT(google-runtime-int): their type
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    return false;
  }
  ERR_clear_error();
  return true;
}

// These return the reason why it did not work; empty if it did.
std::string UseCertificates(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = Reader(pem);
  if (bio == nullptr) return OpenSslReason();
  const CertificatePtr own = NextCertificate(bio.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) return OpenSslReason();
  while (const CertificatePtr next = NextCertificate(bio.get())) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return OpenSslReason();
  }
  return AtEnd() ? "" : OpenSslReason();
}

std::string UseKey(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = Reader(pem);
  if (bio == nullptr) return OpenSslReason();
  bool encrypted = false;
  const KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, &encrypted));
  if (key == nullptr) {
    const std::string reason = OpenSslReason();
    if (encrypted) return "the key is encrypted, and there is no password for it";
    return absl::StrCat("the key is not one in PEM: ", reason);
  }
  const bool fits =
      SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1;
  return fits ? "" : OpenSslReason();
}

std::string UseRoots(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = Reader(pem);
  if (bio == nullptr) return OpenSslReason();
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  bool any = false;
  while (const CertificatePtr root = NextCertificate(bio.get())) {
    if (X509_STORE_add_cert(store, root.get()) != 1) return OpenSslReason();
    if (SSL_CTX_add_client_CA(context, root.get()) != 1) return OpenSslReason();
    any = true;
  }
  return any && AtEnd() ? "" : OpenSslReason();
}

// Everything but certificates and protocols.
bool SetRules(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // Sessions are resumed by tickets, which the clients keep. Without a name for its sessions, a
  // server that asks for certificates would refuse to resume them.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  constexpr unsigned char kName[] = "nereid";
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadBufferBytes);
  return SSL_CTX_set_session_id_context(context, kName, sizeof(kName)) == 1 &&
         SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphersOfTls12) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCiphersOfTls13) == 1;
}

absl::Status NoContext() {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot make a context for TLS: ", OpenSslReason()));
}

}  // namespace

void TlsContext::FreeContext::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Create(const TlsFiles& files,
                                                               const std::vector<std::string>& alpn,
                                                               Clock* clock) {
  std::string wire;
  for (const std::string& protocol : alpn) {
    wire.push_back(static_cast<char>(protocol.size()));
    wire += protocol;
  }
  std::shared_ptr<TlsContext> created(new TlsContext(files, std::move(wire), clock));
  ASSIGN_OR_RETURN(ContextPtr context, created->Load());
  MutexLock lock(&created->mu_);
  created->context_ = std::move(context);
  return created;
}

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::ForPort(
    const TlsOptions& options, const std::vector<std::string>& alpn) {
  if (!options.enabled && !options.mutual) return nullptr;
  return Create(options, alpn, Clock::Real());
}

absl::StatusOr<TlsContext::ContextPtr> TlsContext::Load() const {
  ASSIGN_OR_RETURN(const std::string key,
                   ReadPem(files_, {"server key", files_.key, "server-key"}));
  ASSIGN_OR_RETURN(const std::string certificate,
                   ReadPem(files_, {"server certificate", files_.certificate, "server-cert"}));
  std::string root;
  if (files_.mutual || !files_.root.empty()) {
    ASSIGN_OR_RETURN(root, ReadPem(files_, {"root certificate", files_.root, "root-cert"}));
  }

  // The queue of errors is the thread's: what another connection left there would be given as the
  // reason here.
  ERR_clear_error();
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || !SetRules(context.get())) return NoContext();
  std::string wrong = UseCertificates(context.get(), certificate);
  if (wrong.empty()) wrong = UseKey(context.get(), key);
  if (!wrong.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot use the server certificate in '",
                                                   files_.certificate, "' with the server key in '",
                                                   files_.key, "': ", wrong));
  }
  if (!files_.root.empty()) wrong = UseRoots(context.get(), root);
  if (!wrong.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot use the root certificate in '", files_.root, "': ", wrong));
  }
  if (files_.mutual) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (!alpn_.empty()) {
    SSL_CTX_set_alpn_select_cb(context.get(), &TlsContext::SelectAlpn,
                               const_cast<TlsContext*>(this));
  }
  return context;
}

int TlsContext::SelectAlpn(SSL*, const unsigned char** selected, unsigned char* selected_size,
                           const unsigned char* offered, unsigned int offered_size, void* self) {
  const std::string& ours = static_cast<const TlsContext*>(self)->alpn_;
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(
      &found, selected_size, reinterpret_cast<const unsigned char*>(ours.data()),
      static_cast<unsigned int>(ours.size()), offered, offered_size);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *selected = found;
  return SSL_TLSEXT_ERR_OK;
}

SSL* TlsContext::New() {
  ERR_clear_error();
  SSL* ssl;
  {
    MutexLock lock(&mu_);
    ssl = SSL_new(context_.get());  // keeps the context it was made of
  }
  if (ssl != nullptr) SSL_set_accept_state(ssl);
  ERR_clear_error();
  return ssl;
}

void TlsContext::ReloadIfChanged() {
  if (!watched_.Changed()) return;
  absl::StatusOr<ContextPtr> context = Load();
  if (!context.ok()) {
    LOG_WARNING << "the TLS files have changed, but those loaded before stay in use: "
                << context.status().message();
    return;
  }
  LOG_INFO << "loaded the TLS certificate in '" << files_.certificate << "' again: it has changed";
  MutexLock lock(&mu_);
  context_.swap(*context);
}

}  // namespace nereid::transport
