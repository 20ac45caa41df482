// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cloud/binary_mime.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

using Headers = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<HttpRequest> MakeRequest(const Headers& headers) {
  std::string head = "/predict";
  const HttpRequest::Range target{0, static_cast<uint32_t>(head.size())};
  std::vector<HttpRequest::HeaderRange> ranges;
  const auto add = [&head](const std::string& text) {
    const HttpRequest::Range range{static_cast<uint32_t>(head.size()),
                                   static_cast<uint32_t>(text.size())};
    head += text;
    return range;
  };
  for (const auto& [name, value] : headers) {
    const HttpRequest::Range place = add(name);
    ranges.push_back({place, add(value)});
  }
  return std::make_unique<HttpRequest>(head, HttpMethod::kPost, target, ranges);
}

absl::StatusOr<std::unique_ptr<HttpRequest>> SentOn(const Headers& headers) {
  return SendOn(MakeRequest(headers), {HttpMethod::kGet, "/v2/models/m"}, kVertexAiMime);
}

std::string ErrorOf(const std::string& content_type) {
  return std::string(SentOn({{"Content-Type", content_type}}).status().message());
}

TEST(BinaryMimeTest, MethodAndPathAreNew) {
  const auto request = SentOn({{"X-Mine", "1"}, {"Accept-Encoding", "gzip"}});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ((*request)->method(), HttpMethod::kGet);
  EXPECT_EQ((*request)->path(), "/v2/models/m");
  EXPECT_THAT((*request)->FindHeader("x-mine"), Optional(Eq("1")));
  EXPECT_EQ((*request)->FindHeader("Accept-Encoding"), std::nullopt);
}

TEST(BinaryMimeTest, TheLengthMovesFromTheContentTypeToItsHeader) {
  for (const char* number : {"17", "17;charset=utf-8", " 17"}) {
    const auto request = SentOn({{"content-type", absl::StrCat(kVertexAiMime, number)}});
    ASSERT_TRUE(request.ok()) << number;
    EXPECT_THAT((*request)->FindHeader("Inference-Header-Content-Length"), Optional(Eq("17")));
  }
}

TEST(BinaryMimeTest, OtherContentTypesHaveNoLength) {
  const auto request =
      SentOn({{"Content-Type", "application/json"}, {"inference-header-content-length", "5"}});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ((*request)->FindHeader("Inference-Header-Content-Length"), std::nullopt);
}

TEST(BinaryMimeTest, ALengthThatIsNoneIsRefused) {
  EXPECT_EQ(ErrorOf(absl::StrCat("text/plain,", kVertexAiMime, "5")),
            absl::StrCat("expect MIME type for binary data starts with '", kVertexAiMime,
                         "', got: text/plain,", kVertexAiMime, "5"));
  EXPECT_EQ(ErrorOf(absl::StrCat(kVertexAiMime, "x")),
            "Unable to parse inference header size, got: x");
  EXPECT_THAT(ErrorOf(kVertexAiMime), HasSubstr("Unable to parse inference header size"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kVertexAiMime, "-1")), HasSubstr("got: -1"));
}

TEST(BinaryMimeTest, Answers) {
  HttpResponse json;
  json.content_type = "application/json";
  UseMime(kSagemakerMime, &json);
  EXPECT_EQ(json.content_type, "application/json");
  HttpResponse binary;
  binary.content_type = "application/octet-stream";
  binary.headers.emplace_back("Inference-Header-Content-Length", "99");
  UseMime(kSagemakerMime, &binary);
  EXPECT_EQ(binary.content_type, "");
  ASSERT_EQ(binary.headers.size(), 1U);
  EXPECT_EQ(binary.headers[0].first, "Content-Type");
  EXPECT_EQ(binary.headers[0].second, absl::StrCat(kSagemakerMime, "99"));
}

TEST(BinaryMimeTest, PathsOfModels) {
  EXPECT_EQ(PathOfModel("res-net_1.0~", "infer"), "/v2/models/res-net_1.0~/infer");
  EXPECT_EQ(PathOfModel("a/b?c %", "infer"), "/v2/models/a%2fb%3fc%20%25/infer");
}

}  // namespace
}  // namespace nereid
