// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/query.h"

#include <gtest/gtest.h>

#include <string>

#include "frontends/http/http_message.h"

namespace nereid {
namespace {

TEST(QueryTest, OfATarget) {
  const auto query = [](const std::string& target) {
    const HttpRequest request(target, HttpMethod::kGet, {0, static_cast<uint32_t>(target.size())},
                              {});
    EXPECT_EQ(request.path(), "/a");
    return std::string(request.query());
  };
  EXPECT_EQ(query("/a"), "");
  EXPECT_EQ(query("/a?"), "");
  EXPECT_EQ(query("/a?b=1&c=2"), "b=1&c=2");
  EXPECT_EQ(query("/a?b=?#c?d"), "b=?");
  EXPECT_EQ(query("/a#c?d"), "");
  EXPECT_EQ(query("http://host/a?b"), "b");
}

TEST(QueryTest, Values) {
  EXPECT_EQ(TextParameter("a=1&b=x%20y&c", "b"), "x y");
  EXPECT_EQ(TextParameter("a=1&b=x%20y&c", "c"), "");
  EXPECT_EQ(TextParameter("a=1", "b"), "");
  EXPECT_EQ(NumberParameter("a=17", "a", 5, 17).value(), 17u);
  EXPECT_EQ(NumberParameter("a=17", "b", 5, 17).value(), 5u);
  for (const char* const bad :
       {"a=18", "a=", "a", "a=-1", "a=+1", "a=1x", "a=99999999999999999999"}) {
    EXPECT_EQ(NumberParameter(bad, "a", 5, 17).status().code(), absl::StatusCode::kInvalidArgument)
        << bad;
  }
  EXPECT_EQ(NumberParameter("a=x", "a", 5, 17).status().message(),
            "parameter 'a' of the query is 'x': it must be a whole number up to 17");
}

TEST(QueryTest, OnlyKnownParametersAndEachOnce) {
  EXPECT_EQ(CheckParameters("", {"a"}), absl::OkStatus());
  EXPECT_EQ(CheckParameters("b=1&a=2", {"a", "b"}), absl::OkStatus());
  EXPECT_EQ(CheckParameters("c=1", {"a", "b"}).message(),
            "unknown parameter 'c' in the query: this route has a, b");
  EXPECT_EQ(CheckParameters("a=1&a=1", {"a", "b"}).message(),
            "parameter 'a' comes twice in the query");
}

}  // namespace
}  // namespace nereid
