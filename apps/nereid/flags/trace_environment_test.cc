// SPDX-License-Identifier: Apache-2.0
#include "flags/trace_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "flags/command_line.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Environment Of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  };
}

TEST(TraceEnvironmentTest, NothingIsSet) {
  OtlpOptions options;
  ASSERT_TRUE(ReadTraceEnvironment(Of({}), &options).ok());
  EXPECT_EQ(options.url, "http://localhost:4318/v1/traces");
  EXPECT_EQ(options.max_queue_size, 2048U);
  EXPECT_EQ(options.schedule_delay_ms, 5000U);
  EXPECT_EQ(options.max_export_batch_size, 512U);
}

TEST(TraceEnvironmentTest, WhereToAndAsWhom) {
  OtlpOptions options;
  ASSERT_TRUE(ReadTraceEnvironment(Of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1/"},
                                       {"OTEL_EXPORTER_OTLP_HEADERS", "a=b%20c, d=e=f,none"},
                                       {"OTEL_RESOURCE_ATTRIBUTES", "service.name=x,host=h"},
                                       {"OTEL_SERVICE_NAME", "y"}}),
                                   &options)
                  .ok());
  EXPECT_EQ(options.url, "http://c:1/v1/traces");
  EXPECT_THAT(options.headers, ElementsAre("a: b c", "d: e=f"));
  EXPECT_THAT(options.resource, ElementsAre(Pair("host", "h"), Pair("service.name", "y")));
  ASSERT_TRUE(ReadTraceEnvironment(Of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"},
                                       {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:2/in"}}),
                                   &options)
                  .ok());
  EXPECT_EQ(options.url, "http://t:2/in");
}

TEST(TraceEnvironmentTest, PortionsAndWhatIsWrongWithThem) {
  OtlpOptions options;
  const absl::Status read = ReadTraceEnvironment(Of({{"OTEL_BSP_MAX_QUEUE_SIZE", "many"},
                                                     {"OTEL_BSP_SCHEDULE_DELAY", "7"},
                                                     {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "9"}}),
                                                 &options);
  EXPECT_THAT(std::string(read.message()), HasSubstr("Bad option: \"OTEL_BSP_MAX_QUEUE_SIZE\"."));
  EXPECT_EQ(options.schedule_delay_ms, 7U);
  EXPECT_EQ(options.max_export_batch_size, 9U);
  // It counts only where traces are sent.
  Settings settings;
  settings.trace_environment = read;
  EXPECT_TRUE(ParseCommandLine({"--model-repository=m"}, &settings).ok());
  EXPECT_EQ(
      ParseCommandLine({"--model-repository=m", "--trace-config=mode=opentelemetry"}, &settings),
      read);
}

TEST(TraceEnvironmentTest, TheCommandLineWins) {
  Settings settings;
  ASSERT_TRUE(
      ReadTraceEnvironment(Of({{"OTEL_BSP_MAX_QUEUE_SIZE", "5"}}), &settings.trace.otlp).ok());
  ASSERT_TRUE(ParseCommandLine({"--model-repository=m", "--trace-config=mode=OpenTelemetry",
                                "--trace-config=opentelemetry,url=http://x",
                                "--trace-config=opentelemetry,resource=a=b=c",
                                "--trace-config=opentelemetry,bsp_max_queue_size=6"},
                               &settings)
                  .ok());
  EXPECT_EQ(settings.trace.mode, TraceMode::kOpenTelemetry);
  EXPECT_EQ(settings.trace.otlp.url, "http://x");
  EXPECT_EQ(settings.trace.otlp.max_queue_size, 6U);
  EXPECT_THAT(settings.trace.otlp.resource, ElementsAre(Pair("a", "b=c")));
  const absl::Status bad = ParseCommandLine(
      {"--model-repository=m", "--trace-config=opentelemetry,bsp_max_queue_size=x"}, &settings);
  EXPECT_THAT(std::string(bad.message()),
              HasSubstr("Bad option: \"--trace-config opentelemetry,bsp_max_queue_size\""));
}

}  // namespace
}  // namespace nereid
