// SPDX-License-Identifier: Apache-2.0
// The rules about single fields, over both versions of HTTP.
#include "frontends/http/transport/head_rules.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::http {
namespace {

using testing::HasSubstr;
using Fields = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<HttpRequest> MakeRequest(const std::string& target, const Fields& fields) {
  std::string head = target;
  std::vector<HttpRequest::HeaderRange> ranges;
  const auto append = [&head](const std::string& text) {
    const HttpRequest::Range range = {static_cast<uint32_t>(head.size()),
                                      static_cast<uint32_t>(text.size())};
    head += text;
    return range;
  };
  for (const auto& [name, value] : fields) {
    const HttpRequest::Range of_name = append(name);
    ranges.push_back({of_name, append(value)});
  }
  const HttpRequest::Range whole = {0, static_cast<uint32_t>(target.size())};
  return std::make_unique<HttpRequest>(head, HttpMethod::kGet, whole, ranges);
}

// The text of the refusal; empty if the head is in order.
std::string ErrorOf(const Fields& fields, const std::string& target = "/",
                    HttpVersion version = HttpVersion::k11) {
  const std::optional<Refusal> refusal = CheckHead(*MakeRequest(target, fields), version);
  if (!refusal.has_value()) return "";
  EXPECT_EQ(refusal->status, 400);
  return refusal->message;
}

TEST(HeadRulesTest, EachSingleFieldMayHaveOneValue) {
  for (const SingleField& field : SingleFields()) {
    const std::string name(field.name);
    const auto twice = [&](const std::string& first, const std::string& second) {
      Fields fields = {{name, first}, {"X-Other", "b"}, {absl::AsciiStrToLower(name), second}};
      if (name != "Host") fields.insert(fields.begin(), {"Host", "h"});
      return ErrorOf(fields);
    };
    EXPECT_THAT(twice("a", "b"), HasSubstr(absl::StrCat("'", name, "'"))) << name;
    EXPECT_THAT(twice("a", "b"), HasSubstr("'a' and as 'b'")) << name;
    EXPECT_EQ(twice("a", "a") == "", field.may_repeat_value) << name;
    EXPECT_NE(twice("", "a"), "") << name;
  }
}

TEST(HeadRulesTest, OtherFieldsMayBeRepeated) {
  EXPECT_EQ(ErrorOf({{"Host", "h"}, {"Accept", "a"}, {"accept", "b"}, {"Cookie", "c"}}), "");
}

TEST(HeadRulesTest, TheHost) {
  EXPECT_EQ(ErrorOf({}), "a request of HTTP/1.1 needs the header 'Host'");
  EXPECT_EQ(ErrorOf({}, "/", HttpVersion::k10), "");
  EXPECT_EQ(ErrorOf({}, "/", HttpVersion::k2), "");
  for (const char* host : {"h", "h:8000", "[::1]:80", "", "a_b.example"}) {
    EXPECT_EQ(ErrorOf({{"Host", host}}), "") << host;
  }
  for (const char* host : {"a b", "h/v2", "h?x", "h#x", "user@h", "a,b", "h\\x", "h\x7f"}) {
    EXPECT_THAT(ErrorOf({{"Host", host}}), HasSubstr("is not of the form name:port")) << host;
  }
}

TEST(HeadRulesTest, TheHostOfATargetIsCheckedLikeThatOfTheHeader) {
  EXPECT_EQ(ErrorOf({{"Host", "h"}}, "http://e:80/v2"), "");
  EXPECT_THAT(ErrorOf({{"Host", "h"}}, "http://h@e/v2"), HasSubstr("'h@e'"));
}

TEST(HeadRulesTest, ATargetInAbsoluteForm) {
  struct Case {
    const char* target;
    const char* authority;
    const char* path;
    const char* query;
  };
  for (const Case& c : std::vector<Case>{
           {"/v2?a=b#c", "h", "/v2", "a=b"},
           {"/v2/x?u=http://e/v2/health/live", "h", "/v2/x", "u=http://e/v2/health/live"},
           {"http://e:80/v2/health/live?x=1", "e:80", "/v2/health/live", "x=1"},
           {"HTTPS://e", "e", "/", ""},
           {"http://e?x=/v2/health/live", "e", "/", "x=/v2/health/live"},
           {"http://e#/v2/health/live", "e", "/", ""},
           {"http:///v2", "h", "/v2", ""},
           {"*", "h", "*", ""},
           {"x?y=http://e/v2", "h", "x", "y=http://e/v2"},
           {"://e/v2", "h", "://e/v2", ""},
           {"", "h", "", ""}}) {
    const auto request = MakeRequest(c.target, {{"Host", "h"}});
    EXPECT_EQ(request->authority(), c.authority) << c.target;
    EXPECT_EQ(request->path(), c.path) << c.target;
    EXPECT_EQ(request->query(), c.query) << c.target;
  }
}

}  // namespace
}  // namespace nereid::http
