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
