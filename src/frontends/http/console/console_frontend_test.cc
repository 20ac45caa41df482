// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/console/console_frontend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "frontends/http/console/console_files.h"
#include "frontends/http/console/testing/made_request.h"

namespace nereid {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kSettings[] = R"({"model_control":"none"})";
const HeaderList kStranger = {{"Host", "localhost:8003"}};
const HeaderList kOwner = {{"Host", "localhost:8003"},
                           {"Authorization", "Bearer 0123456789abcdef"}};

struct Answer {
  int status = 0;
  std::string content_type;
  std::string body;
  std::map<std::string, std::string> headers;
};

class Sink final : public HttpResponseSink {
 public:
  void Complete(HttpResponse response) override {
    answer.status = response.status;
    answer.content_type = std::string(response.content_type);
    answer.body = response.text;
    for (const HttpChunk& chunk : response.chunks) {
      answer.body.append(static_cast<const char*>(chunk.data), chunk.size);
    }
    for (const auto& [name, value] : response.headers) answer.headers[std::string(name)] = value;
  }
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make) override { Complete(make()); }
  void SetOnCancel(absl::AnyInvocable<void()> /*on_cancel*/) override {}
  std::function<void()> PutOff(absl::AnyInvocable<void()> /*go_on*/) override {
    return [] {};
  }
  void AddHeader(absl::string_view name, std::string value) override {
    answer.headers[std::string(name)] = std::move(value);
  }
  Answer answer;
};

// Answers with its name and the path.
class Named final : public HttpHandler {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  HeadVerdict OnHead(HttpRequest*) override {
    return {true, {name_.size(), 413, [](auto, uint64_t) { return std::string(); }}};
  }
  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override {
    HttpResponse response;
    response.text = name_ + std::string(request->path());
    responder.Complete(std::move(response));
  }

  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

class ConsoleFrontendTest : public testing::Test {
 protected:
  Answer Send(HttpMethod method, const std::string& path, const HeaderList& headers) {
    const auto sink = std::make_shared<Sink>();
    frontend_.Handle(MakeRequest(method, path, headers), HttpResponder(sink));
    return sink->answer;
  }

  static AccessControl Access() {
    RestrictedApis restricted;
    EXPECT_TRUE(restricted.Add("nereid:key=value", {"--http-restricted-api", "api"}).ok());
    return AccessControl(restricted, "", "API", nullptr);
  }

  Named rest_{"rest"};
  Named guarded_{"guarded"};
  Named metrics_{"metrics"};
  ConsoleFrontend frontend_{{&rest_, &guarded_, &metrics_},
                            {"127.0.0.1", kToken, Access(), kSettings}};
};

TEST_F(ConsoleFrontendTest, ThePageNeedsNoToken) {
  for (const auto& [path, type] : {std::pair("/", "text/html"),
                                   {"/console.js", "text/javascript"},
                                   {"/console.css", "text/css"},
                                   {"/favicon.svg", "image/svg+xml"}}) {
    const Answer answer = Send(HttpMethod::kGet, path, kStranger);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_THAT(answer.content_type, HasSubstr(type));
    EXPECT_NE(answer.body, "") << path;
    EXPECT_EQ(Send(HttpMethod::kHead, path, kStranger).status, 200) << path;
    EXPECT_EQ(Send(HttpMethod::kPost, path, kOwner).status, 405) << path;
  }
  EXPECT_THAT(Send(HttpMethod::kGet, "/", kStranger).body, HasSubstr("<title>"));
}

TEST_F(ConsoleFrontendTest, ThePageLoadsNothingButItsOwnFiles) {
  const std::string page = Send(HttpMethod::kGet, "/", kStranger).body;
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
}

TEST_F(ConsoleFrontendTest, FilesAreFoundByTheirExactPath) {
  for (const char* path : {"//", "/.", "/index.html", "/console.js/", "/../console.js",
                           "/%63onsole.js", "", "/console"}) {
    EXPECT_EQ(FindConsoleFile(path), nullptr) << path;
    EXPECT_EQ(Send(HttpMethod::kGet, path, kStranger).status, 401) << path;
  }
}

TEST_F(ConsoleFrontendTest, TheApiNeedsTheToken) {
  for (const char* path :
       {"/v2", "/v2/nereid/live", "/metrics", "/console/settings", "/anything"}) {
    const Answer refusal = Send(HttpMethod::kGet, path, kStranger);
    EXPECT_EQ(refusal.status, 401) << path;
    EXPECT_EQ(refusal.headers.at("WWW-Authenticate"), "Bearer");
    EXPECT_THAT(refusal.body, Not(HasSubstr("rest")));
  }
  EXPECT_EQ(Send(HttpMethod::kGet, "/v2", kOwner).body, "rest/v2");
  EXPECT_EQ(Send(HttpMethod::kPost, "/v2/models/m/infer", kOwner).body, "rest/v2/models/m/infer");
  EXPECT_EQ(Send(HttpMethod::kGet, "/metrics", kOwner).body, "metrics/metrics");
  const Answer settings = Send(HttpMethod::kGet, "/console/settings", kOwner);
  EXPECT_EQ(settings.body, kSettings);
  EXPECT_EQ(settings.content_type, "application/json");
  EXPECT_EQ(Send(HttpMethod::kPost, "/console/settings", kOwner).status, 405);
}

TEST_F(ConsoleFrontendTest, ReportsAreMadeForWhoMaySeeThem) {
  ThreadPool admin({.name = "admin", .threads = 1});
  const ConsoleOptions options{"127.0.0.1",
                               kToken,
                               Access(),
                               kSettings,
                               {{"/console/good", [] { return absl::StatusOr<std::string>("[]"); }},
                                {"/console/bad", [] { return absl::NotFoundError("no folder"); }}},
                               &admin};
  ConsoleFrontend frontend({&rest_, &guarded_, &metrics_}, options);
  const auto send = [&](HttpMethod method, const char* path, const HeaderList& headers) {
    const auto sink = std::make_shared<Sink>();
    frontend.Handle(MakeRequest(method, path, headers), HttpResponder(sink));
    return sink;
  };
  const auto good = send(HttpMethod::kGet, "/console/good", kOwner);
  const auto bad = send(HttpMethod::kGet, "/console/bad", kOwner);
  EXPECT_EQ(send(HttpMethod::kGet, "/console/good", kStranger)->answer.status, 401);
  EXPECT_EQ(send(HttpMethod::kPost, "/console/good", kOwner)->answer.status, 405);
  EXPECT_FALSE(
      frontend.OnHead(MakeRequest(HttpMethod::kPost, "/console/good", kOwner).get()).takes_body);
  ASSERT_TRUE(admin.End(TimePoint::max()));  // both have been answered
  EXPECT_EQ(good->answer.body, "[]");
  EXPECT_EQ(good->answer.content_type, "application/json");
  EXPECT_EQ(bad->answer.status, 404);
  EXPECT_THAT(bad->answer.body, HasSubstr("no folder"));
}

TEST_F(ConsoleFrontendTest, TakesBodiesOnlyForTheApiAndItsVisitors) {
  const auto verdict = [&](const char* path, const HeaderList& headers) {
    return frontend_.OnHead(MakeRequest(HttpMethod::kPost, path, headers).get());
  };
  for (const char* path : {"/", "/console.js", "/console/settings"}) {
    EXPECT_FALSE(verdict(path, kOwner).takes_body) << path;
  }
  EXPECT_FALSE(verdict("/v2/logging", kStranger).takes_body);
  EXPECT_EQ(verdict("/v2/logging", kOwner).limit.bytes, rest_.name().size());
  EXPECT_EQ(verdict("/metrics", kOwner).limit.bytes, metrics_.name().size());
}

TEST_F(ConsoleFrontendTest, WhoHasTheKeyGetsTheApiWithItsOtherKeys) {
  const auto send = [&](const char* path, const char* value) {
    return Send(HttpMethod::kGet, path, {{"Host", "localhost:8003"}, {"key", value}});
  };
  EXPECT_EQ(send("/v2/nereid/live", "value").body, "guarded/v2/nereid/live");
  EXPECT_EQ(send("/metrics", "value").body, "metrics/metrics");
  EXPECT_EQ(send("/console/settings", "value").body, kSettings);
  for (const char* path : {"/v2/nereid/live", "/metrics", "/console/settings"}) {
    EXPECT_EQ(send(path, "values").status, 401) << path;
  }
}

TEST_F(ConsoleFrontendTest, ForeignPagesGetNothingEvenWithTheToken) {
  HeaderList foreign = kOwner;
  foreign.emplace_back("Origin", "http://evil.example");
  EXPECT_EQ(Send(HttpMethod::kPost, "/v2/models/m/infer", foreign).status, 403);
  EXPECT_EQ(Send(HttpMethod::kGet, "/", foreign).status, 403);
  const HeaderList rebound = {{"Host", "evil.example:8003"}, kOwner[1]};
  EXPECT_EQ(Send(HttpMethod::kGet, "/v2/nereid/live", rebound).status, 403);
  EXPECT_EQ(Send(HttpMethod::kGet, "/", rebound).status, 403);
}

TEST_F(ConsoleFrontendTest, EveryAnswerIsLockedDown) {
  for (const Answer& answer :
       {Send(HttpMethod::kGet, "/", kStranger), Send(HttpMethod::kGet, "/v2", kStranger),
        Send(HttpMethod::kGet, "/v2", kOwner), Send(HttpMethod::kGet, "/", {})}) {
    EXPECT_THAT(answer.headers.at("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(answer.headers.at("Content-Security-Policy"), Not(HasSubstr("unsafe")));
    EXPECT_EQ(answer.headers.at("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.headers.at("X-Frame-Options"), "DENY");
    EXPECT_EQ(answer.headers.at("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer.headers.at("Cache-Control"), "no-store");
    EXPECT_EQ(answer.headers.count("Access-Control-Allow-Origin"), 0);
  }
}

TEST(ConsoleApiOptionsTest, OtherKeysAndTheGroupsThatThePageDoesNotNeed) {
  RestrictedApis restricted;
  ASSERT_TRUE(restricted.Add("nereid:key=value", {"--http-restricted-api", "api"}).ok());
  HttpFrontendOptions options;
  options.access = AccessControl(restricted, "", "API", nullptr);
  options.cors = CorsPolicy({"*"});
  const HttpFrontendOptions made = OwnerApiOptions(options);
  const auto open = [&](ApiGroup group) {
    return !made.access.Check(group, [](absl::string_view) { return ""; }).has_value();
  };
  EXPECT_TRUE(open(ApiGroup::kNereid));
  EXPECT_TRUE(open(ApiGroup::kInference));
  EXPECT_TRUE(open(ApiGroup::kModelRepository));
  EXPECT_FALSE(open(ApiGroup::kSharedMemory));
  EXPECT_FALSE(open(ApiGroup::kTrace));
  EXPECT_FALSE(open(ApiGroup::kLogging));
  EXPECT_FALSE(made.cors.Allows("http://evil.example"));
}

TEST(ConsoleApiOptionsTest, WithoutTheTokenGroupsKeepTheirKeys) {
  RestrictedApis restricted;
  ASSERT_TRUE(restricted.Add("nereid,trace:key=value", {"--http-restricted-api", "api"}).ok());
  ASSERT_TRUE(restricted.Add("inference:shop=other", {"--http-restricted-api", "api"}).ok());
  HttpFrontendOptions options;
  options.access = AccessControl(restricted, "", "API", nullptr);
  const HttpFrontendOptions made = ConsoleApiOptions(options);
  const auto open = [&](ApiGroup group) {
    const auto find = [](absl::string_view name) { return name == "key" ? "value" : ""; };
    return !made.access.Check(group, find).has_value();
  };
  EXPECT_TRUE(open(ApiGroup::kNereid));
  EXPECT_TRUE(open(ApiGroup::kMetadata));
  EXPECT_FALSE(open(ApiGroup::kInference));
  EXPECT_FALSE(open(ApiGroup::kTrace)) << "the page does not need it";
}

}  // namespace
}  // namespace nereid
