// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr char kOrigin[] = "https://app.example.com";

// A request with `headers` and nothing else.
std::unique_ptr<HttpRequest> MakeRequest(const Headers& headers) {
  std::string head = "/v2";
  std::vector<HttpRequest::HeaderRange> ranges;
  const auto append = [&](const std::string& text) {
    const HttpRequest::Range range = {static_cast<uint32_t>(head.size()),
                                      static_cast<uint32_t>(text.size())};
    head += text;
    return range;
  };
  for (const auto& [name, value] : headers) {
    const HttpRequest::Range of_name = append(name);
    ranges.push_back({of_name, append(value)});
  }
  return std::make_unique<HttpRequest>(head, HttpMethod::kOptions, HttpRequest::Range{0, 3},
                                       ranges);
}

class Sink final : public HttpResponseSink {
 public:
  void Complete(HttpResponse /*response*/) override {}
  void CompleteWith(absl::AnyInvocable<HttpResponse()> /*make*/) override {}
  void SetOnCancel(absl::AnyInvocable<void()> /*on_cancel*/) override {}
  std::function<void()> PutOff(absl::AnyInvocable<void()> /*go_on*/) override {
    return [] {};
  }
  void AddHeader(absl::string_view name, std::string value) override {
    added.emplace_back(name, std::move(value));
  }
  Headers added;
};

Headers Marks(const CorsPolicy& policy, const Headers& headers) {
  const auto sink = std::make_shared<Sink>();
  HttpResponder responder(sink);
  policy.Mark(*MakeRequest(headers), &responder);
  responder.Complete({});
  return sink->added;
}

std::map<std::string, std::string> Options(const CorsPolicy& policy, const Headers& headers) {
  const HttpResponse response = policy.Options(*MakeRequest(headers), "POST");
  EXPECT_EQ(response.status, 200);
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : response.headers) found.emplace(name, value);
  return found;
}

TEST(CorsTest, NobodyIsAllowedByDefault) {
  EXPECT_THAT(Marks(CorsPolicy(), {{"Origin", kOrigin}}), IsEmpty());
  EXPECT_THAT(
      Options(CorsPolicy(), {{"Origin", kOrigin}, {"Access-Control-Request-Method", "POST"}}),
      ElementsAre(Pair("Allow", "POST, OPTIONS")));
}

TEST(CorsTest, AnswersNameTheOriginThatIsAllowed) {
  const CorsPolicy policy({kOrigin});
  EXPECT_THAT(Marks(policy, {{"origin", kOrigin}}),
              ElementsAre(Pair("Vary", "Origin"), Pair("Access-Control-Allow-Origin", kOrigin),
                          Pair("Access-Control-Expose-Headers",
                               "Inference-Header-Content-Length, Content-Encoding")));
  EXPECT_THAT(Marks(policy, {{"Origin", "https://app.example.com.evil.org"}}),
              ElementsAre(Pair("Vary", "Origin")));
  EXPECT_THAT(Marks(policy, {}), ElementsAre(Pair("Vary", "Origin")));
}

// 0: not refused.
int StatusOf(const CorsPolicy& policy, const Headers& headers, bool secure = false) {
  const auto request = MakeRequest(headers);
  request->set_secure(secure);
  const auto refusal = policy.Refuse(*request);
  return refusal.has_value() ? refusal->status : 0;
}

TEST(CorsTest, PagesOfOtherOriginsAreRefused) {
  const CorsPolicy policy({kOrigin}, {"gpu1"});
  EXPECT_EQ(StatusOf(policy, {{"Host", "evil.example"}}), 0) << "no page";
  EXPECT_EQ(StatusOf(policy, {{"Host", "h"}, {"Origin", kOrigin}}), 0) << "allowed";
  for (const char* origin :
       {"http://evil.example", "https://evil.example:8000", "null", "", "http://localhost",
        "http://localhost:8001", "file://localhost:8000", "http://localhost:8000/",
        "http://a@localhost:8000", "http://localhost:8000.evil.example", "http://gpu1:8000",
        "http://127.0.0.1:8000", "localhost:8000", "http://app.example.com"}) {
    EXPECT_EQ(StatusOf(policy, {{"Host", "localhost:8000"}, {"Origin", origin}}), 403) << origin;
  }
}

TEST(CorsTest, PagesOfTheServerItselfAreNot) {
  const CorsPolicy policy({}, {"gpu1"});
  for (const auto& [host, origin] :
       {std::pair("localhost:8000", "http://localhost:8000"),
        {"LocalHost:8000", "http://localhost:8000"},
        {"localhost:8000", "https://localhost:8000"},  // TLS ends in front of the server
        {"127.0.0.1", "http://127.0.0.1"},
        {"127.0.0.1:80", "http://127.0.0.1"},
        {"10.0.0.1:443", "https://10.0.0.1"},
        {"[::1]:8000", "http://[::1]:8000"},
        {"gpu1:8000", "http://GPU1:8000"}}) {
    EXPECT_EQ(StatusOf(policy, {{"Host", host}, {"Origin", origin}}), 0) << origin;
  }
  EXPECT_EQ(StatusOf(policy, {{"Host", "10.0.0.1:443"}, {"Origin", "http://10.0.0.1"}}), 403);
}

// DNS rebinding: the page's own name leads to this machine, so that its origin is the host.
TEST(CorsTest, APageUnderAnyOtherNameIsRefusedThoughItIsTheHost) {
  for (const char* name : {"evil.example:8000", "evil.example", "127.0.0.1.evil.example",
                           "localhost.evil.example", "gpu1.evil.example", "127.1", "[evil]"}) {
    const Headers headers = {{"Host", name}, {"Origin", std::string("http://") + name}};
    EXPECT_EQ(StatusOf(CorsPolicy({}, {"gpu1"}), headers), 403) << name;
  }
}

TEST(CorsTest, APageWithoutTlsIsNoPageOfAPortWithTls) {
  const Headers plain = {{"Host", "localhost"}, {"Origin", "http://localhost"}};
  const Headers safe = {{"Host", "localhost"}, {"Origin", "https://localhost"}};
  EXPECT_EQ(StatusOf(CorsPolicy(), plain, /*secure=*/true), 403);
  EXPECT_EQ(StatusOf(CorsPolicy(), safe, /*secure=*/true), 0);
}

TEST(CorsTest, EachOfSeveralOriginsCounts) {
  const Headers headers = {
      {"Host", "localhost"}, {"Origin", "http://localhost"}, {"origin", "http://evil.example"}};
  EXPECT_EQ(StatusOf(CorsPolicy(), headers), 403);
}

TEST(CorsTest, WhoIsAllowedByAStarOrNotAskedIsNotRefused) {
  const Headers headers = {{"Host", "h"}, {"Origin", "null"}};
  EXPECT_EQ(StatusOf(CorsPolicy({"*"}), headers), 0);
  EXPECT_EQ(StatusOf(CorsPolicy::Unchecked(), headers), 0);
  EXPECT_EQ(StatusOf(CorsPolicy(), headers), 403);
}

TEST(CorsTest, ARefusalNamesOriginAndOption) {
  const auto refusal = CorsPolicy().Refuse(*MakeRequest({{"Host", "h"}, {"Origin", kOrigin}}));
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->text, testing::HasSubstr("--http-allow-origin=https://app.example.com"));
}

TEST(CorsTest, AStarAllowsAll) {
  EXPECT_TRUE(CorsPolicy({"*"}).Allows("null"));
  EXPECT_TRUE(CorsPolicy({"*"}).Allows(kOrigin));
  EXPECT_FALSE(CorsPolicy({"*"}).Allows(""));
}

TEST(CorsTest, ABrowserThatAsksHearsWhatItMaySend) {
  const CorsPolicy policy({kOrigin});
  const Headers asked = {{"Origin", kOrigin},
                         {"Access-Control-Request-Method", "POST"},
                         {"Access-Control-Request-Headers", "authorization,content-type"}};
  EXPECT_THAT(Options(policy, asked),
              UnorderedElementsAre(
                  Pair("Allow", "POST, OPTIONS"), Pair("Access-Control-Allow-Methods", "POST"),
                  Pair("Access-Control-Max-Age", "600"),
                  Pair("Access-Control-Allow-Headers", "authorization,content-type")));
  EXPECT_THAT(
      Options(policy, {{"Origin", "https://other.org"}, {"Access-Control-Request-Method", "POST"}}),
      ElementsAre(Pair("Allow", "POST, OPTIONS")));
  EXPECT_THAT(Options(policy, {{"Origin", kOrigin}}), ElementsAre(Pair("Allow", "POST, OPTIONS")));
}

}  // namespace
}  // namespace nereid
