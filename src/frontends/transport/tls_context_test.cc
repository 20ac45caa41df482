// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/log.h"
#include "frontends/transport/testing/certificates.h"
#include "frontends/transport/testing/test_connection.h"

namespace nereid::transport {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TlsContextTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { authority_ = new Authority("authority"); }
  static void TearDownTestSuite() {
    delete authority_;
    authority_ = nullptr;
  }

  TlsContextTest() {
    folder_ = fs::path(testing::TempDir()) / "tls_context_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    files_.certificate = folder_ / "server.pem";
    files_.key = folder_ / "server.key";
    Place(authority_->Issue("first"));
  }
  ~TlsContextTest() override { fs::remove_all(folder_); }

  void Place(const Identity& identity) {
    WriteFile(files_.certificate, identity.certificate);
    WriteFile(files_.key, identity.key);
  }

  absl::Status Error() { return TlsContext::Create(files_, {"h2"}, &clock_).status(); }

  // Null if that fails, which is reported.
  std::shared_ptr<TlsContext> Create() {
    absl::StatusOr<std::shared_ptr<TlsContext>> context =
        TlsContext::Create(files_, {"h2", "http/1.1"}, &clock_);
    EXPECT_TRUE(context.ok()) << context.status();
    return context.ok() ? *context : nullptr;
  }

  void LookAgain(TlsContext* context) {
    clock_.Advance(WatchedFiles::kLookEvery);
    context->ReloadIfChanged();
  }

  // Name in the certificate that a new connection is shown; empty if none comes about.
  static std::string NameShown(const std::shared_ptr<TlsContext>& context) {
    TestConnection connection(context, {.root = authority_->certificate()});
    return connection.Handshake() ? connection.client().ServerName() : "";
  }

  static Authority* authority_;
  fs::path folder_;
  FakeClock clock_;
  TlsFiles files_;
};

Authority* TlsContextTest::authority_ = nullptr;

TEST_F(TlsContextTest, ShowsItsCertificate) { EXPECT_EQ(NameShown(Create()), "first"); }

TEST_F(TlsContextTest, AFileThatIsNotNamed) {
  files_.key = "";
  EXPECT_EQ(Error(), absl::InvalidArgumentError("TLS needs a file with the server key"));
  files_.key = folder_ / "server.key";
  files_.certificate = "";
  EXPECT_EQ(Error(), absl::InvalidArgumentError("TLS needs a file with the server certificate"));
  files_.certificate = folder_ / "server.pem";
  files_.mutual = true;
  EXPECT_EQ(Error(), absl::InvalidArgumentError("TLS needs a file with the root certificate"));
}

TEST_F(TlsContextTest, AnErrorNamesTheOption) {
  files_.option_prefix = "--http-";
  files_.root = "/no/root";
  EXPECT_EQ(Error(), absl::NotFoundError("cannot read the root certificate from '/no/root' "
                                         "(--http-root-cert)"));
  files_.certificate = "";
  EXPECT_EQ(Error(), absl::InvalidArgumentError(
                         "TLS needs a file with the server certificate (--http-server-cert)"));
  files_.key = "";
  EXPECT_EQ(Error(),
            absl::InvalidArgumentError("TLS needs a file with the server key (--http-server-key)"));
}

TEST_F(TlsContextTest, AFileThatCannotBeRead) {
  files_.root = folder_;
  EXPECT_EQ(Error(), absl::NotFoundError("cannot read the root certificate from '" +
                                         folder_.string() + "'"));
  files_.certificate = "/no/such";
  EXPECT_EQ(Error(), absl::NotFoundError("cannot read the server certificate from '/no/such'"));
  files_.key = "/no/key";
  EXPECT_EQ(Error(), absl::NotFoundError("cannot read the server key from '/no/key'"));
}

TEST_F(TlsContextTest, WrongContents) {
  const std::string files = "cannot use the server certificate in '" + files_.certificate +
                            "' with the server key in '" + files_.key + "': ";
  const Identity good = authority_->Issue("good");
  const struct {
    const char* what;
    std::string certificate, key, reason;
  } cases[] = {
      {"another key", good.certificate, authority_->Issue("other").key, "key values mismatch"},
      {"no certificate", "", good.key, "no start line"},
      {"half a certificate", good.certificate.substr(0, 200), good.key, "bad end line"},
      {"a broken second one", good.certificate + good.certificate.substr(0, 200), good.key,
       "bad end line"},
      {"no key", good.certificate, "", "the key is not one in PEM: "},
      {"a key that is text", good.certificate, "hello", "the key is not one in PEM: "},
      {"a key under a password", good.certificate, EncryptedKey(good.key),
       "the key is encrypted, and there is no password for it"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    Place({one.certificate, one.key});
    const absl::Status error = Error();
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(error.message()), HasSubstr(files));
    EXPECT_THAT(std::string(error.message()), HasSubstr(one.reason));
  }
  Place(good);
  files_.root = folder_ / "root.pem";
  WriteFile(files_.root, "no certificate");
  EXPECT_EQ(Error(), absl::InvalidArgumentError("cannot use the root certificate in '" +
                                                files_.root + "': no start line"));
  EXPECT_EQ(ERR_peek_error(), 0u) << "nothing is left to confuse others on this thread";
}

TEST_F(TlsContextTest, SendsTheCertificatesBehindItsOwn) {
  Place({authority_->Issue("unused").certificate, ""});
  const Identity identity = authority_->Issue("first");
  Place({identity.certificate + authority_->certificate(), identity.key});
  TestConnection connection(Create());
  ASSERT_TRUE(connection.Handshake());
  EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(connection.client().ssl())), 2);
}

TEST_F(TlsContextTest, NewConnectionsSeeAChangedCertificateAndOldOnesGoOn) {
  const std::shared_ptr<TlsContext> context = Create();
  TestConnection old(context);
  ASSERT_TRUE(old.Handshake());

  Place(authority_->Issue("second"));
  clock_.Advance(WatchedFiles::kLookEvery - milliseconds(1));
  context->ReloadIfChanged();
  EXPECT_EQ(NameShown(context), "first") << "it does not look that often";
  clock_.Advance(milliseconds(1));
  context->ReloadIfChanged();
  EXPECT_EQ(NameShown(context), "second");

  old.client().Write("still here?");
  old.client().Pump();
  EXPECT_EQ(old.ServerReads(), "still here?");
  EXPECT_EQ(old.ServerWrites("yes").bytes, 3u);
  EXPECT_EQ(old.ClientReads(), "yes");

  Place(authority_->Issue("third"));
  context->ReloadIfChanged();
  EXPECT_EQ(NameShown(context), "second") << "less than a second after the last look";
  LookAgain(context.get());
  EXPECT_EQ(NameShown(context), "third");
}

// As Kubernetes does it: names -> ..data/names, ..data -> a folder, and ..data is replaced.
TEST_F(TlsContextTest, SeesAReplacedLinkOnTheWay) {
  const auto make = [&](const char* name) {
    const fs::path version = folder_ / name;
    fs::create_directories(version);
    const Identity identity = authority_->Issue(name);
    WriteFile(version / "tls.crt", identity.certificate);
    WriteFile(version / "tls.key", identity.key);
    fs::create_directory_symlink(name, folder_ / "..new");
    fs::rename(folder_ / "..new", folder_ / "..data");
  };
  make("first");
  fs::create_symlink("..data/tls.crt", folder_ / "tls.crt");
  fs::create_symlink("..data/tls.key", folder_ / "tls.key");
  files_ = {.certificate = folder_ / "tls.crt", .key = folder_ / "tls.key", .root = ""};
  const std::shared_ptr<TlsContext> context = Create();
  make("second");
  LookAgain(context.get());
  EXPECT_EQ(NameShown(context), "second");
}

TEST_F(TlsContextTest, UnusableNewFilesKeepTheOldOnes) {
  const std::shared_ptr<TlsContext> context = Create();
  LogSettings settings;
  settings.file = folder_ / "log";
  ASSERT_TRUE(Log::Configure(settings).ok());
  const auto warnings = [&] {
    std::ifstream log(settings.file);
    const std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
    size_t count = 0;
    for (size_t at = 0; (at = text.find("stay in use", at)) != std::string::npos; ++at) ++count;
    return count;
  };

  LookAgain(context.get());
  EXPECT_EQ(warnings(), 0u);
  WriteFile(files_.certificate, "broken");
  LookAgain(context.get());
  LookAgain(context.get());
  EXPECT_EQ(NameShown(context), "first");
  EXPECT_EQ(warnings(), 1u) << "one for the change";
  fs::remove(files_.key);
  LookAgain(context.get());
  LookAgain(context.get());
  EXPECT_EQ(NameShown(context), "first");
  EXPECT_EQ(warnings(), 2u);
  Place(authority_->Issue("mended"));
  LookAgain(context.get());
  EXPECT_EQ(NameShown(context), "mended");
  EXPECT_EQ(warnings(), 2u);
  ASSERT_TRUE(Log::Configure(LogSettings()).ok());
}

TEST_F(TlsContextTest, AChangedRootDecidesAboutNewClients) {
  files_.mutual = true;
  files_.root = folder_ / "root.pem";
  WriteFile(files_.root, authority_->certificate());
  const std::shared_ptr<TlsContext> context = Create();
  const TlsClient::Options options{.identity = authority_->Issue("client")};
  TestConnection accepted(context, options);
  ASSERT_TRUE(accepted.Handshake());
  accepted.ClientReads();  // its ticket
  WriteFile(files_.root, Authority("another").certificate());
  LookAgain(context.get());
  TestConnection refused(context, options);
  refused.client().Resume(accepted.client().Session());
  EXPECT_FALSE(refused.Handshake()) << "nor do old tickets help";
}

class TlsResumption : public TlsContextTest, public testing::WithParamInterface<int> {};

TEST_P(TlsResumption, ByTicketAlsoWithCertificatesOfClients) {
  files_.mutual = true;
  files_.root = folder_ / "root.pem";
  WriteFile(files_.root, authority_->certificate());
  const std::shared_ptr<TlsContext> context = Create();
  const TlsClient::Options options{.identity = authority_->Issue("client"),
                                   .max_version = GetParam()};
  TestConnection first(context, options);
  ASSERT_TRUE(first.Handshake());
  EXPECT_EQ(first.ClientReads(), "");  // the ticket
  TestConnection second(context, options);
  second.client().Resume(first.client().Session());
  ASSERT_TRUE(second.Handshake());
  EXPECT_EQ(SSL_session_reused(second.client().ssl()), 1);
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsResumption, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST_F(TlsContextTest, ManyThreadsMakeConnectionsWhileFilesChange) {
  const std::shared_ptr<TlsContext> context = Create();
  std::atomic<bool> stop{false};
  std::atomic<int> made{0};
  std::thread maker([&] {
    while (!stop) {
      SSL* const ssl = context->New();
      made += ssl != nullptr;
      SSL_free(ssl);
    }
  });
  for (int i = 0; i < 20 || made == 0; ++i) {
    Place(authority_->Issue("again"));
    LookAgain(context.get());
  }
  stop = true;
  maker.join();
  EXPECT_EQ(NameShown(context), "again");
}

}  // namespace
}  // namespace nereid::transport
