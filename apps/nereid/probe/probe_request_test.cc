// SPDX-License-Identifier: Apache-2.0
#include "probe/probe_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::string> Urls(const ProbeRequest& request) {
  std::vector<std::string> urls;
  for (const ProbeTarget& target : request.targets) urls.push_back(target.Url());
  return urls;
}

TEST(ProbeRequestTest, WithoutOptionsTheUsualPortsOfThisMachine) {
  const auto request = ParseProbeRequest({}, "");
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request->live);
  EXPECT_THAT(Urls(*request), ElementsAre("http://127.0.0.1:8000", "grpc://127.0.0.1:8001"));
  EXPECT_EQ(request->timeout, std::chrono::seconds(5));
}

TEST(ProbeRequestTest, TheOptionWinsOverTheEnvironment) {
  const auto environment = ParseProbeRequest({"--live"}, "grpc://there:9000");
  ASSERT_TRUE(environment.ok());
  EXPECT_TRUE(environment->live);
  EXPECT_THAT(Urls(*environment), ElementsAre("grpc://there:9000"));
  const auto option = ParseProbeRequest({"--url=http://here:1"}, "grpc://there:9000");
  ASSERT_TRUE(option.ok());
  EXPECT_THAT(Urls(*option), ElementsAre("http://here:1"));
}

TEST(ProbeRequestTest, AllOptions) {
  const auto request = ParseProbeRequest({"--ready", "--model=digits:3", "--url=https://[::1]/",
                                          "--timeout-s=0.25", "--header=Authorization: Bearer abc ",
                                          "--root-cert=ca", "--client-cert=c", "--client-key=k"},
                                         "");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->model, "digits");
  EXPECT_EQ(request->version, "3");
  EXPECT_THAT(Urls(*request), ElementsAre("https://[::1]:8000"));
  EXPECT_EQ(request->timeout, std::chrono::milliseconds(250));
  EXPECT_THAT(request->headers, ElementsAre(Pair("authorization", "Bearer abc")));
  EXPECT_EQ(request->root_cert, "ca");
  EXPECT_EQ(request->client_cert, "c");
  EXPECT_EQ(request->client_key, "k");
}

TEST(ProbeRequestTest, EachSchemeHasItsUsualPort) {
  for (const auto& [url, whole] :
       {std::pair("http://h", "http://h:8000"), std::pair("https://h:1", "https://h:1"),
        std::pair("grpc://h", "grpc://h:8001"), std::pair("grpcs://[::1]", "grpcs://[::1]:8001")}) {
    const auto target = ParseProbeUrl(url);
    ASSERT_TRUE(target.ok()) << url;
    EXPECT_EQ(target->Url(), whole);
  }
}

TEST(ProbeRequestTest, BadUrls) {
  for (const char* url : {"", "localhost:8000", "ftp://h", "http://", "http://h:0",
                          "http://h:65536", "http://h:x", "http://[::1", "http://[::1]8000",
                          "http://h/v2", "http://u@h", "http://h\r\nx", "http://:8000"}) {
    const auto target = ParseProbeUrl(url);
    EXPECT_TRUE(absl::IsInvalidArgument(target.status())) << url;
  }
}

TEST(ProbeRequestTest, WrongArgumentsAreNamed) {
  struct Case {
    std::vector<std::string> args;
    const char* text;
  };
  for (const Case& wrong : std::vector<Case>{
           {{"--bogus"}, "unknown option --bogus"},
           {{"here"}, "'here' is not an option"},
           {{"--timeout-s=0"}, "--timeout-s is '0'"},
           {{"--timeout-s=nan"}, "--timeout-s is 'nan'"},
           {{"--timeout-s=3601"}, "at most 3600"},
           {{"--model="}, "--model is ''"},
           {{"--model=m:x"}, "--model is 'm:x'"},
           {{"--live", "--ready"}, "--live and --ready exclude each other"},
           {{"--live", "--model=m"}, "--live and --model exclude each other"},
           {{"--header=x"}, "has to be NAME:VALUE"},
           {{"--header=a b:c"}, "has to be NAME:VALUE"},
           {{"--header=a:b\r\nc:d"}, "has to be NAME:VALUE"},
           {{"--client-cert=c", "--url=https://h"}, "need each other"},
           {{"--root-cert=c"}, "certificates need a --url with https or grpcs"},
           {{"--url=h:8000"}, "--url: the URL 'h:8000' has to be http://HOST:PORT"}}) {
    const auto request = ParseProbeRequest(wrong.args, "");
    EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << wrong.text;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(wrong.text));
  }
}

TEST(ProbeRequestTest, AWrongUrlOfTheEnvironmentIsNamed) {
  const auto request = ParseProbeRequest({}, "h:8000");
  EXPECT_TRUE(absl::IsInvalidArgument(request.status()));
  EXPECT_THAT(std::string(request.status().message()),
              HasSubstr("NEREID_PROBE_URL: the URL 'h:8000' has to be"));
}

}  // namespace
}  // namespace nereid
