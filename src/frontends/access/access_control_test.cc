// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/access_control.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

namespace nereid {
namespace {

using Reason = AccessRefusal::Reason;
using Headers = std::map<std::string, std::string>;

constexpr char kKey[] = "a-key-of-the-shop-0123";
constexpr char kOtherKey[] = "a-key-of-the-bank-0123";

std::optional<AccessRefusal> Check(const AccessControl& access, ApiGroup group,
                                   const Headers& headers = {}) {
  return access.Check(group, [&](absl::string_view name) {
    const auto it = headers.find(std::string(name));
    return it == headers.end() ? absl::string_view() : absl::string_view(it->second);
  });
}

RestrictedApis Restricted(absl::string_view text) {
  RestrictedApis apis;
  EXPECT_TRUE(apis.Add(text, {"--option", "api"}).ok());
  return apis;
}

class ApiKeyAccessTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(testing::TempDir()) / "access_control_test.txt";
    std::ofstream(path_) << "inference " << kKey << "\nmetadata " << kOtherKey << "\nhealth *\n";
    auto keys = ApiKeys::Create(path_, &clock_);
    ASSERT_TRUE(keys.ok()) << keys.status();
    keys_ = *std::move(keys);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
  FakeClock clock_;
  std::unique_ptr<ApiKeys> keys_;
};

TEST(AccessControlTest, EverythingIsOpenByDefault) {
  EXPECT_FALSE(Check(AccessControl(), ApiGroup::kInference).has_value());
}

TEST(AccessControlTest, ARestrictedGroupNeedsItsHeader) {
  const AccessControl access(Restricted("inference:Admin-Key=open"), "prefix-", "protocol",
                             nullptr);
  EXPECT_FALSE(Check(access, ApiGroup::kHealth).has_value());
  EXPECT_FALSE(Check(access, ApiGroup::kInference, {{"prefix-admin-key", "open"}}).has_value());
  for (const Headers& headers :
       {Headers(), Headers{{"prefix-admin-key", "Open"}}, Headers{{"admin-key", "open"}}}) {
    const auto refusal = Check(access, ApiGroup::kInference, headers);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->reason, Reason::kRestricted);
    EXPECT_EQ(refusal->message, "This protocol is restricted, expecting header 'prefix-Admin-Key'");
  }
}

TEST_F(ApiKeyAccessTest, AKeyOpensItsGroups) {
  const AccessControl access({}, "", "API", keys_.get());
  const Headers headers = {{"authorization", absl::StrCat("Bearer ", kKey)}};
  EXPECT_FALSE(Check(access, ApiGroup::kInference, headers).has_value());
  EXPECT_FALSE(
      Check(access, ApiGroup::kInference, {{"authorization", absl::StrCat("bearer  ", kKey, " ")}})
          .has_value());
  EXPECT_FALSE(Check(access, ApiGroup::kHealth).has_value());

  const auto other = Check(access, ApiGroup::kMetadata, headers);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->reason, Reason::kNotOpened);
  EXPECT_EQ(other->message, "the key of the request does not open the API group 'metadata'");
}

TEST(AccessControlTest, AGroupThatIsOff) {
  AccessControl access;
  access.CloseUnlessGuarded(ApiGroup::kNereid, "ask the operator");
  const auto refusal = Check(access, ApiGroup::kNereid);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->reason, Reason::kOff);
  EXPECT_EQ(refusal->message, "the API group 'nereid' is switched off: ask the operator");
  EXPECT_FALSE(Check(access, ApiGroup::kStatistics).has_value());
}

TEST_F(ApiKeyAccessTest, AGroupThatIsGuardedIsNotSwitchedOff) {
  AccessControl by_header(Restricted("nereid:admin-key=open"), "", "API", nullptr);
  by_header.CloseUnlessGuarded(ApiGroup::kNereid, "ask the operator");
  EXPECT_EQ(Check(by_header, ApiGroup::kNereid)->reason, Reason::kRestricted);
  EXPECT_FALSE(Check(by_header, ApiGroup::kNereid, {{"admin-key", "open"}}).has_value());
  AccessControl by_key({}, "", "API", keys_.get());
  by_key.CloseUnlessGuarded(ApiGroup::kNereid, "ask the operator");
  EXPECT_EQ(Check(by_key, ApiGroup::kNereid)->reason, Reason::kNoKey);
}

TEST_F(ApiKeyAccessTest, WithoutAKnownKeyAGroupIsClosed) {
  const AccessControl access({}, "", "API", keys_.get());
  for (const std::string& value :
       {std::string(), std::string(kKey), absl::StrCat("Basic ", kKey), std::string("Bearer ")}) {
    const auto refusal = Check(access, ApiGroup::kInference, {{"authorization", value}});
    ASSERT_TRUE(refusal.has_value()) << value;
    EXPECT_EQ(refusal->reason, Reason::kNoKey);
    EXPECT_EQ(refusal->message,
              "the API group 'inference' needs a key: send it as header 'Authorization: Bearer "
              "<key>'");
  }
  const auto unknown =
      Check(access, ApiGroup::kInference, {{"authorization", absl::StrCat("Bearer ", kKey, "4")}});
  ASSERT_TRUE(unknown.has_value());
  EXPECT_EQ(unknown->reason, Reason::kNoKey);
  EXPECT_EQ(unknown->message, "the key of the request is unknown");
}

TEST_F(ApiKeyAccessTest, HeaderAndKeyAreBothNeeded) {
  const AccessControl access(Restricted("inference:admin-key=open"), "", "API", keys_.get());
  const std::string bearer = absl::StrCat("Bearer ", kKey);
  EXPECT_EQ(Check(access, ApiGroup::kInference, {{"authorization", bearer}})->reason,
            Reason::kRestricted);
  EXPECT_EQ(Check(access, ApiGroup::kInference, {{"admin-key", "open"}})->reason, Reason::kNoKey);
  EXPECT_FALSE(
      Check(access, ApiGroup::kInference, {{"authorization", bearer}, {"admin-key", "open"}})
          .has_value());
}

TEST(AccessControlTest, AClosedGroupHasNoKey) {
  AccessControl access(Restricted("trace,nereid:Key=value"), "", "API", nullptr);
  ASSERT_NE(access.RestrictingHeader(ApiGroup::kTrace), nullptr);
  EXPECT_EQ(*access.RestrictingHeader(ApiGroup::kTrace), "key");
  access.Close(ApiGroup::kTrace, "use the HTTP port");
  EXPECT_EQ(access.RestrictingHeader(ApiGroup::kTrace), nullptr);
  EXPECT_FALSE(Check(access, ApiGroup::kNereid, {{"key", "value"}}).has_value());
  const auto refusal = Check(access, ApiGroup::kTrace, {{"key", "value"}});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->reason, Reason::kOff);
  EXPECT_EQ(refusal->message, "the API group 'trace' is switched off: use the HTTP port");
}

}  // namespace
}  // namespace nereid
