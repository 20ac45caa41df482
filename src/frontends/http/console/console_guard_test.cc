// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/console/console_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/http/console/testing/made_request.h"

namespace nereid {
namespace {

using testing::HasSubstr;
using testing::Not;

// 200, or the status of the refusal.
int SourceStatus(const HeaderList& headers, const std::string& address = "127.0.0.1") {
  const ConsoleGuard guard(address, kToken, {});
  const auto refusal = guard.RefuseSource(*MakeRequest(HttpMethod::kPost, "/v2", headers));
  return refusal.has_value() ? refusal->status : 200;
}
using Visitor = ConsoleGuard::Visitor;

Visitor VisitorWith(const HeaderList& headers, const AccessControl& access = {}) {
  const ConsoleGuard guard("127.0.0.1", kToken, access);
  return guard.Recognise(*MakeRequest(HttpMethod::kGet, "/v2", headers));
}

AccessControl Restricted(const std::vector<std::string>& options) {
  RestrictedApis restricted;
  for (const std::string& option : options) {
    EXPECT_EQ(restricted.Add(option, {"--http-restricted-api", "api"}), absl::OkStatus());
  }
  return AccessControl(restricted, "", "API", nullptr);
}

TEST(ConsoleGuardTest, HostsThatNobodyElseCanPointHere) {
  for (const char* host :
       {"localhost", "localhost:8003", "LocalHost:1", "127.0.0.1:8003", "10.1.2.3:80", "192.0.2.7",
        "[::1]:8003", "[::1]", "[2001:db8::1]:443"}) {
    EXPECT_EQ(SourceStatus({{"Host", host}}), 200) << host;
  }
}

TEST(ConsoleGuardTest, HostsOfOthers) {
  for (const char* host :
       {"evil.example", "evil.example:8003", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example:8003@localhost", "localhost:8003x", "localhost:", "[::1", "[::1]x",
        "[::1]:", "::1", "[]", "", ":8003", "localhost ", "127.1", "0x7f000001", "2130706433"}) {
    EXPECT_EQ(SourceStatus({{"Host", host}}), 403) << host;
  }
  EXPECT_EQ(SourceStatus({}), 403);
}

TEST(ConsoleGuardTest, TheHostOfATargetTakesThePlaceOfTheHeader) {
  const ConsoleGuard guard("127.0.0.1", kToken, {});
  for (const auto& [target, refused] :
       {std::pair("http://evil.example/v2", true), {"http://localhost:8003/v2", false}}) {
    const auto request = MakeRequest(HttpMethod::kGet, target, {{"Host", "localhost:8003"}});
    EXPECT_EQ(guard.RefuseSource(*request).has_value(), refused) << target;
  }
}

TEST(ConsoleGuardTest, TheNameOfThePortsOwnAddress) {
  EXPECT_EQ(SourceStatus({{"Host", "box.lan:8003"}}, "box.lan"), 200);
  EXPECT_EQ(SourceStatus({{"Host", "Box.LAN"}}, "box.lan"), 200);
  EXPECT_EQ(SourceStatus({{"Host", "other.lan:8003"}}, "box.lan"), 403);
  EXPECT_EQ(SourceStatus({{"Host", "box.lan"}}), 403);
}

TEST(ConsoleGuardTest, OriginsHaveToBeTheHost) {
  const auto with_origin = [](const char* origin) {
    return SourceStatus({{"Host", "localhost:8003"}, {"Origin", origin}});
  };
  EXPECT_EQ(with_origin("http://localhost:8003"), 200);
  EXPECT_EQ(with_origin("https://localhost:8003"), 200);  // TLS ends in front of the console
  for (const char* origin :
       {"http://localhost", "http://localhost:8000", "http://127.0.0.1:8003", "null", "",
        "http://evil.example", "http://localhost:8003.evil.example", "file://localhost:8003",
        "http://localhost:8003/"}) {
    EXPECT_EQ(with_origin(origin), 403) << origin;
  }
}

TEST(ConsoleGuardTest, ARefusalNamesWhatIsWrong) {
  const ConsoleGuard guard("127.0.0.1", kToken, {});
  const auto by_host =
      guard.RefuseSource(*MakeRequest(HttpMethod::kGet, "/", {{"Host", "evil.example"}}));
  ASSERT_TRUE(by_host.has_value());
  EXPECT_THAT(by_host->text, HasSubstr("'evil.example'"));
  const auto by_origin = guard.RefuseSource(*MakeRequest(
      HttpMethod::kGet, "/", {{"Host", "localhost"}, {"Origin", "http://evil.example"}}));
  ASSERT_TRUE(by_origin.has_value());
  EXPECT_THAT(by_origin->text, HasSubstr("'http://evil.example'"));
}

TEST(ConsoleGuardTest, TheTokenOpensTheApi) {
  EXPECT_EQ(VisitorWith({{"Authorization", "Bearer 0123456789abcdef"}}), Visitor::kOwner);
  EXPECT_EQ(VisitorWith({{"authorization", "bearer  0123456789abcdef "}}), Visitor::kOwner);
  for (const char* value : {"0123456789abcdef", "Basic 0123456789abcdef", "Bearer ", "Bearer x",
                            "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0"}) {
    EXPECT_EQ(VisitorWith({{"Authorization", value}}), Visitor::kStranger) << value;
  }
  EXPECT_EQ(VisitorWith({}), Visitor::kStranger);
}

TEST(ConsoleGuardTest, TheKeyOfTheGroupNereidOpensTheApi) {
  const AccessControl access = Restricted({"nereid:Admin-Key=secret", "inference:shop=other"});
  EXPECT_EQ(VisitorWith({{"admin-key", "secret"}}, access), Visitor::kKeyHolder);
  EXPECT_EQ(VisitorWith({{"Authorization", "Bearer x"}, {"Admin-Key", "secret"}}, access),
            Visitor::kKeyHolder);
  EXPECT_EQ(VisitorWith({{"Authorization", "Bearer 0123456789abcdef"}, {"admin-key", "x"}}, access),
            Visitor::kOwner);
  for (const HeaderList& headers :
       {HeaderList{{"admin-key", "Secret"}}, HeaderList{{"admin-key", ""}},
        HeaderList{{"admin-key", "other"}}, HeaderList{{"shop", "other"}},
        HeaderList{{"shop", "secret"}}, HeaderList{{"Authorization", "Bearer secret"}}}) {
    EXPECT_EQ(VisitorWith(headers, access), Visitor::kStranger) << headers[0].second;
  }
}

// Without a key of its own the group is open on the HTTP port at most, and never here.
TEST(ConsoleGuardTest, AGroupWithoutKeyOpensNothing) {
  EXPECT_EQ(VisitorWith({{"shop", "other"}}, Restricted({"inference:shop=other"})),
            Visitor::kStranger);
}

TEST(ConsoleGuardTest, AStrangerLearnsWhatIsMissing) {
  const HttpResponse plain = ConsoleGuard("127.0.0.1", kToken, {}).StrangerResponse();
  EXPECT_EQ(plain.status, 401);
  EXPECT_THAT(plain.text, HasSubstr("Authorization: Bearer"));
  EXPECT_THAT(plain.text, Not(HasSubstr("key")));
  const HttpResponse keyed =
      ConsoleGuard("127.0.0.1", kToken, Restricted({"nereid:Admin-Key=secret"})).StrangerResponse();
  EXPECT_THAT(keyed.text, HasSubstr("as header 'admin-key'"));
  EXPECT_THAT(keyed.text, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace nereid
