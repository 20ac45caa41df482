// SPDX-License-Identifier: Apache-2.0
#include "flags/command_line.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flags/flag_table.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Status Parse(std::vector<std::string> args, Settings* settings) {
  args.insert(args.begin(), "--model-repository=models");
  return ParseCommandLine(args, settings);
}

std::string ErrorOf(std::vector<std::string> args) {
  Settings settings;
  const absl::Status status = Parse(std::move(args), &settings);
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

TEST(CommandLineTest, FrontendsOpenOnlyThePortsThatAreAskedFor) {
  Settings none, http, all, off;
  ASSERT_TRUE(ParseFrontendOptions({"--http-address=127.0.0.1"}, &none).ok());
  EXPECT_FALSE(none.allow_http || none.allow_grpc || none.server.metrics);
  ASSERT_TRUE(ParseFrontendOptions({"--http-port", "65535"}, &http).ok());
  EXPECT_TRUE(http.allow_http);
  EXPECT_FALSE(http.allow_grpc || http.server.metrics);
  ASSERT_TRUE(
      ParseFrontendOptions({"--http-port=0", "--grpc-port=0", "--metrics-port=0"}, &all).ok());
  EXPECT_TRUE(all.allow_http && all.allow_grpc && all.server.metrics);
  ASSERT_TRUE(ParseFrontendOptions({"--http-port=0", "--allow-http=false"}, &off).ok());
  EXPECT_FALSE(off.allow_http);
}

TEST(CommandLineTest, TensorFlowServingsApiIsOpenedByItsPort) {
  Settings without, with;
  ASSERT_TRUE(Parse({}, &without).ok());
  EXPECT_FALSE(without.tfs.allow_http);
  ASSERT_TRUE(Parse({"--tfs-http-port=8501"}, &with).ok());
  EXPECT_TRUE(with.tfs.allow_http);
  EXPECT_EQ(with.tfs.http_port, 8501);
  EXPECT_THAT(ErrorOf({"--tfs-http-port=65536"}), HasSubstr("tfs-http-port"));
  EXPECT_FALSE(with.tfs.allow_grpc);
  ASSERT_TRUE(Parse({"--tfs-grpc-port=8500"}, &with).ok());
  EXPECT_TRUE(with.tfs.allow_grpc);
  EXPECT_EQ(with.tfs.grpc_port, 8500);
  EXPECT_THAT(ErrorOf({"--tfs-grpc-port=8001"}),
              HasSubstr("GRPC requests and TensorFlow Serving GRPC requests"));
  EXPECT_THAT(ErrorOf({"--tfs-http-port=8000"}),
              HasSubstr("HTTP requests and TensorFlow Serving HTTP requests at the same address"));
}

TEST(CommandLineTest, TheConsoleIsOpenedByItsPort) {
  Settings without, with;
  ASSERT_TRUE(Parse({"--console-address=::1"}, &without).ok());
  EXPECT_FALSE(without.console.allow);
  ASSERT_TRUE(Parse({"--console-port=8003"}, &with).ok());
  EXPECT_TRUE(with.console.allow);
  EXPECT_EQ(with.console.port, 8003);
  EXPECT_EQ(with.console.address, "127.0.0.1");
  EXPECT_THAT(ErrorOf({"--console-port=65536"}), HasSubstr("console-port"));
  EXPECT_THAT(ErrorOf({"--console-port=8000", "--console-address=0.0.0.0"}),
              HasSubstr("HTTP requests and console requests at the same address and port"));
}

TEST(CommandLineTest, TheOwnerHasASocketAndEmbeddingProgramsAskForIt) {
  Settings usual, off, embedded, asked;
  ASSERT_TRUE(Parse({}, &usual).ok());
  EXPECT_TRUE(usual.owner_socket);
  ASSERT_TRUE(Parse({"--owner-socket=false"}, &off).ok());
  EXPECT_FALSE(off.owner_socket);
  ASSERT_TRUE(ParseFrontendOptions({"--http-port=0"}, &embedded).ok());
  EXPECT_FALSE(embedded.owner_socket);
  ASSERT_TRUE(ParseFrontendOptions({"--http-port=0", "--owner-socket=true"}, &asked).ok());
  EXPECT_TRUE(asked.owner_socket);
}

TEST(CommandLineTest, ThePortOfAServiceThatIsOffIsNotChecked) {
  for (const std::string service : {"http", "grpc", "metrics", "sagemaker", "vertex-ai"}) {
    for (const std::string port : {"-47", "65536"}) {
      const std::string option = absl::StrCat("--", service, "-port=", port);
      const std::string allow = absl::StrCat("--allow-", service, "=");
      Settings off, corrected;
      EXPECT_EQ(Parse({option, allow + "false"}, &off), absl::OkStatus());
      EXPECT_THAT(ErrorOf({option, allow + "true"}),
                  testing::AllOf(HasSubstr(absl::StrCat("Bad option: \"--", service, "-port\".\n")),
                                 HasSubstr("out of bound. Got " + port)));
      EXPECT_EQ(Parse({option, absl::StrCat("--", service, "-port=0"), allow + "true"}, &corrected),
                absl::OkStatus());
    }
    EXPECT_THAT(ErrorOf({absl::StrCat("--", service, "-port=x"),
                         absl::StrCat("--allow-", service, "=false")}),
                HasSubstr("Invalid option value. Got x"));
  }
}

TEST(CommandLineTest, AnswersOfHttp) {
  Settings by_default, s;
  ASSERT_TRUE(Parse({}, &by_default).ok());
  EXPECT_EQ(by_default.http_health_body, HealthBody::kJson);
  EXPECT_EQ(by_default.http_non_finite, NonFinite::kLiteral);
  ASSERT_TRUE(Parse({"--http-health-body=empty", "--http-json-non-finite=null"}, &s).ok());
  EXPECT_EQ(s.http_health_body, HealthBody::kEmpty);
  EXPECT_EQ(s.http_non_finite, NonFinite::kNull);
  EXPECT_THAT(ErrorOf({"--http-json-non-finite=nan"}),
              HasSubstr("'nan' (use literal, null, string or error)"));
  EXPECT_THAT(ErrorOf({"--http-health-body=none"}), HasSubstr("'none' (use json or empty)"));
}

TEST(CommandLineTest, BytesInFlightAreKnownAsGiven) {
  Settings by_default, s;
  ASSERT_TRUE(Parse({}, &by_default).ok());
  EXPECT_FALSE(by_default.max_in_flight_bytes.has_value());
  EXPECT_EQ(by_default.server.max_in_flight_bytes, uint64_t{4} << 30);
  ASSERT_TRUE(Parse({"--max-in-flight-bytes=70000"}, &s).ok());
  EXPECT_EQ(s.server.max_in_flight_bytes, 70'000u);
}

TEST(CommandLineTest, HugePagesCanBeTurnedOff) {
  Settings by_default, off;
  ASSERT_TRUE(Parse({}, &by_default).ok());
  EXPECT_TRUE(by_default.huge_pages);
  ASSERT_TRUE(Parse({"--huge-pages=false"}, &off).ok());
  EXPECT_FALSE(off.huge_pages);
  // The memory of a program that embeds the ports is its own.
  EXPECT_FALSE(ParseFrontendOptions({"--huge-pages=true"}, &off).ok());
}

TEST(CommandLineTest, DefaultsAreThoseOfTheOriginal) {
  Settings s;
  ASSERT_TRUE(Parse({}, &s).ok());
  EXPECT_EQ(s.http.port, 8000);
  EXPECT_EQ(s.grpc.port, 8001);
  EXPECT_EQ(s.metrics.port, 8002);
  EXPECT_EQ(s.server.exit_timeout_secs, 30u);
  EXPECT_TRUE(s.server.strict_readiness);
  EXPECT_EQ(s.http_limits.max_input_size, 67108864u);
  EXPECT_EQ(s.max_admin_body_bytes, 1048576u);
  EXPECT_THAT(s.server.model_repositories, ElementsAre("models"));
}

TEST(CommandLineTest, ValueAfterEqualsOrAsNextArgument) {
  Settings s;
  ASSERT_TRUE(Parse({"--http-port=0", "--grpc-port", "9001", "--allow-metrics", "0"}, &s).ok());
  EXPECT_EQ(s.http.port, 0);
  EXPECT_EQ(s.grpc.port, 9001);
  EXPECT_FALSE(s.server.metrics);
}

TEST(CommandLineTest, UnambiguousBeginningStandsForTheOption) {
  Settings s;
  ASSERT_TRUE(Parse({"--exit-t=5"}, &s).ok());
  EXPECT_EQ(s.server.exit_timeout_secs, 5u);
  EXPECT_THAT(ErrorOf({"--http-max=5"}), HasSubstr("ambiguous"));
}

TEST(CommandLineTest, BooleansInAllSpellings) {
  for (const char* value : {"true", "TRUE", "on", "1"}) {
    Settings s;
    s.grpc.reuse_port = false;
    ASSERT_TRUE(Parse({std::string("--reuse-grpc-port=") + value}, &s).ok()) << value;
    EXPECT_TRUE(s.grpc.reuse_port) << value;
  }
  EXPECT_THAT(ErrorOf({"--allow-http=maybe"}),
              HasSubstr("Bad option: \"--allow-http\".\ninvalid value for bool option: maybe"));
}

TEST(CommandLineTest, Logs) {
  Settings none, s;
  ASSERT_TRUE(Parse({}, &none).ok());
  EXPECT_EQ(none.access_log.file, "");
  EXPECT_EQ(none.access_log.sample, 1u);
  ASSERT_TRUE(Parse({"--log-format=json", "--access-log=-", "--access-log-sample=100"}, &s).ok());
  EXPECT_EQ(s.log.format, LogFormat::kJson);
  EXPECT_EQ(s.access_log.file, "-");
  EXPECT_EQ(s.access_log.sample, 100u);
  EXPECT_THAT(
      ErrorOf({"--log-format=JSON"}),
      HasSubstr("invalid argument for --log-format: 'JSON' (use default, ISO8601 or json)"));
  EXPECT_THAT(ErrorOf({"--access-log-sample=0"}), HasSubstr("out of bound. Got 0"));
}

TEST(CommandLineTest, NumbersAreChecked) {
  EXPECT_THAT(ErrorOf({"--http-port=http"}), HasSubstr("Invalid option value. Got http"));
  EXPECT_THAT(ErrorOf({"--http-port=70000"}), HasSubstr("out of bound. Got 70000"));
  EXPECT_THAT(ErrorOf({"--http-max-input-size=0"}),
              HasSubstr("Error: --http-max-input-size must be greater than 0."));
  EXPECT_THAT(ErrorOf({"--grpc-max-response-pool-size=0"}),
              HasSubstr("Error: --grpc-max-response-pool-size must be greater than 0."));
  EXPECT_THAT(ErrorOf({"--grpc-infer-thread-count=1"}),
              HasSubstr("Must be in the range 2 to 128."));
  Settings s;
  ASSERT_TRUE(Parse({"--exit-timeout-secs=-3"}, &s).ok());
  EXPECT_EQ(s.server.exit_timeout_secs, 0u);
}

TEST(CommandLineTest, LimitsOfHttp2) {
  Settings s;
  ASSERT_TRUE(Parse({"--grpc-max-connections=0", "--http2-max-concurrent-streams=7",
                     "--http2-max-control-frames-per-sec=0", "--http2-handshake-timeout-secs=2",
                     "--http2-stall-timeout-secs=3", "--http2-min-rate-bytes-per-sec=0"},
                    &s)
                  .ok());
  EXPECT_EQ(s.grpc.max_connections, 0u);
  EXPECT_EQ(s.grpc.http2.max_concurrent_streams, 7);
  EXPECT_EQ(s.grpc.http2.control_frames_per_second, 0);
  EXPECT_EQ(s.grpc.http2.handshake_timeout, std::chrono::seconds(2));
  EXPECT_EQ(s.grpc.http2.stall_timeout, std::chrono::seconds(3));
  EXPECT_EQ(s.grpc.http2.min_bytes_per_second, 0u);
  for (const char* name : {"http2-max-concurrent-streams", "http2-handshake-timeout-secs",
                           "http2-stall-timeout-secs"}) {
    EXPECT_THAT(ErrorOf({"--" + std::string(name) + "=0"}), HasSubstr("out of bound. Got 0"));
  }
}

TEST(CommandLineTest, TlsOfBothPorts) {
  Settings s;
  ASSERT_TRUE(Parse({"--http-use-ssl=true", "--http-server-cert=c", "--http-server-key=k",
                     "--grpc-use-ssl-mutual=true", "--grpc-root-cert=r"},
                    &s)
                  .ok());
  EXPECT_TRUE(s.http.tls.enabled);
  EXPECT_FALSE(s.http.tls.mutual);
  EXPECT_EQ(s.http.tls.certificate, "c");
  EXPECT_EQ(s.http.tls.key, "k");
  EXPECT_EQ(s.http.tls.option_prefix, "--http-");
  EXPECT_TRUE(s.grpc.tls.enabled);
  EXPECT_TRUE(s.grpc.tls.mutual);
  EXPECT_EQ(s.grpc.tls.root, "r");
  EXPECT_EQ(s.grpc.tls.option_prefix, "--grpc-");
  EXPECT_FALSE(s.metrics.tls.enabled);

  Settings mutual;
  ASSERT_TRUE(Parse({"--http-use-ssl-mutual=true"}, &mutual).ok());
  EXPECT_TRUE(mutual.http.tls.enabled);
}

TEST(CommandLineTest, FilesOfTlsWithoutTlsAreAnError) {
  for (const char* port : {"--http-", "--grpc-"}) {
    for (const char* file : {"server-cert", "server-key", "root-cert"}) {
      const std::string option = absl::StrCat(port, file, "=f");
      const std::string error = ErrorOf({option});
      EXPECT_THAT(error, HasSubstr(absl::StrCat(port, file))) << option;
      EXPECT_THAT(error, HasSubstr(absl::StrCat(port, "use-ssl=true"))) << option;
      Settings frontends, on, mutual, help;
      EXPECT_FALSE(ParseFrontendOptions({option}, &frontends).ok()) << option;
      EXPECT_TRUE(Parse({option, absl::StrCat(port, "use-ssl=true")}, &on).ok()) << option;
      EXPECT_TRUE(Parse({option, absl::StrCat(port, "use-ssl-mutual=true")}, &mutual).ok());
      EXPECT_TRUE(Parse({option, "--help"}, &help).ok());
    }
  }
}

std::string WhyNoRest(std::vector<std::string> args) {
  Settings settings;
  EXPECT_TRUE(Parse(std::move(args), &settings).ok());
  return WhyNoRestOnGrpcPort(settings);
}

TEST(CommandLineTest, TheGrpcPortAnswersRestWhereItIsNoWayAroundHttp) {
  const std::string tls = "--http-use-ssl=true";
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {},
           {"--http-address=127.0.0.1", "--grpc-address=127.0.0.1"},
           {"--http-address=localhost", "--grpc-address=127.0.0.1"},
           {"--http-address=127.0.0.1", "--grpc-address=::1"},
           {"--grpc-address=127.0.0.1"},
           {"--grpc-address=10.0.0.1"},
           {"--http-address=::", "--grpc-address=10.0.0.1"},
           {"--http-address=::", "--grpc-address=0.0.0.0"},
           {"--http-address=Box.lan", "--grpc-address=box.lan"},
           {"--http-use-ssl=true", "--grpc-use-ssl=true"},
           {"--http-use-ssl-mutual=true", "--grpc-use-ssl-mutual=true", "--http-root-cert=a",
            "--grpc-root-cert=a"}}) {
    EXPECT_EQ(WhyNoRest(args), "") << testing::PrintToString(args);
  }
  for (const auto& [args, why] : std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"--allow-http=false"}, "--allow-http"},
           {{"--grpc-restricted-protocol=health:a=b"}, "--grpc-restricted-protocol"},
           {{"--http-address=127.0.0.1"}, "--http-address"},
           {{"--http-address=10.0.0.1"}, "--http-address"},
           {{"--http-address=10.0.0.1", "--grpc-address=127.0.0.1"}, "--http-address"},
           {{"--http-address=10.0.0.1", "--grpc-address=10.0.0.2"}, "--http-address"},
           {{"--http-address=::1", "--grpc-address=::"}, "--http-address"},
           {{"--grpc-address=::"}, "--http-address"},
           {{"--http-use-ssl=true"}, "HTTP alone uses TLS"},
           {{"--grpc-use-ssl=true"}, "gRPC alone uses TLS"},
           {{"--http-use-ssl-mutual=true"}, "HTTP alone uses TLS"},
           {{"--http-use-ssl-mutual=true", "--grpc-use-ssl=true"}, "client certificates"},
           {{"--grpc-use-ssl-mutual=true", "--http-use-ssl=true"}, "client certificates"},
           {{"--http-use-ssl-mutual=true", "--grpc-use-ssl-mutual=true", "--http-root-cert=a"},
            "client certificates"}}) {
    EXPECT_THAT(WhyNoRest(args), HasSubstr(why)) << testing::PrintToString(args);
  }
}

TEST(CommandLineTest, UnknownOptionSuggestsTheNearest) {
  EXPECT_THAT(ErrorOf({"--htpp-port=1"}), HasSubstr("did you mean --http-port?"));
  EXPECT_THAT(ErrorOf({"--model-repo-path=x"}), HasSubstr("unknown option --model-repo-path"));
  EXPECT_THAT(ErrorOf({"--zzzzzzzzzzzzzzzzzzzz"}), Not(HasSubstr("did you mean")));
  EXPECT_THAT(ErrorOf({"positional"}), HasSubstr("Unexpected argument: positional"));
}

TEST(CommandLineTest, TraceConfig) {
  Settings s;
  ASSERT_TRUE(
      Parse({"--trace-config=level=TIMESTAMPS", "--trace-config=level=tensors",
             "--trace-config=rate=7", "--trace-config=count=9", "--trace-config=mode=triton",
             "--trace-config=TRITON,file=/a,b=c", "--trace-config", "triton,log-frequency=3"},
            &s)
          .ok());
  EXPECT_EQ(s.trace.settings.level, 12U);
  EXPECT_EQ(s.trace.settings.rate, 7U);
  EXPECT_EQ(s.trace.settings.count, 9);
  EXPECT_EQ(s.trace.settings.log_frequency, 3U);
  EXPECT_EQ(s.trace.file, "/a,b=c");
  EXPECT_TRUE(s.deprecations.empty());
}

TEST(CommandLineTest, OldTraceOptionsWarnOnceEach) {
  Settings s;
  ASSERT_TRUE(Parse({"--trace-file=f", "--trace-level=MIN", "--trace-level=TENSORS",
                     "--trace-rate=2", "--trace-count=4", "--trace-log-frequency=3"},
                    &s)
                  .ok());
  EXPECT_EQ(s.trace.file, "f");
  EXPECT_EQ(s.trace.settings.level, 12U);
  EXPECT_EQ(s.trace.settings.rate, 2U);
  EXPECT_EQ(s.trace.settings.count, 4);
  EXPECT_EQ(s.trace.settings.log_frequency, 3U);
  ASSERT_EQ(s.deprecations.size(), 5U);
  EXPECT_THAT(s.deprecations[1], HasSubstr("Warning: '--trace-level' has been deprecated"));

  Settings off;
  ASSERT_TRUE(Parse({"--trace-level=OFF", "--trace-level=MAX"}, &off).ok());
  EXPECT_EQ(off.trace.settings.level, 0U);
}

TEST(CommandLineTest, TraceConfigRefusesWhatItDoesNotKnow) {
  EXPECT_THAT(ErrorOf({"--trace-config=,file=x"}),
              HasSubstr("No trace mode specified. --trace-config option format is <trace "
                        "mode>,<setting>=<value> or <setting>=<value>. Got ,file=x"));
  EXPECT_THAT(ErrorOf({"--trace-config=triton,file"}),
              HasSubstr("--trace-config option format is '<trace mode>,<setting>=<value>'. Got "
                        "triton,file"));
  EXPECT_THAT(ErrorOf({"--trace-config=foo,file=x"}),
              HasSubstr("invalid value for trace mode option: foo."));
  EXPECT_THAT(ErrorOf({"--trace-config=level=all"}),
              HasSubstr("Bad option: \"--trace-config level\".\ninvalid value for trace level "
                        "option: all"));
  EXPECT_THAT(ErrorOf({"--trace-config=rate=x"}),
              HasSubstr("Bad option: \"--trace-config rate\"."));
  EXPECT_THAT(ErrorOf({"--trace-config=count=-2"}),
              HasSubstr("Bad option: \"--trace-config count\"."));
  EXPECT_THAT(ErrorOf({"--trace-config=color=red"}), HasSubstr("has no setting 'color'"));
  EXPECT_THAT(ErrorOf({"--trace-config=file=x"}), HasSubstr("has no setting 'file'"));
}

TEST(CommandLineTest, NoOptionStandsTwice) {
  Settings s;
  std::set<std::string> names;
  for (const FlagGroup& group : MakeFlagTable(&s)) {
    for (const Flag& flag : group.flags) {
      EXPECT_TRUE(names.insert(flag.name).second) << flag.name << " stands twice";
      EXPECT_FALSE(flag.help.empty()) << flag.name;
    }
  }
}

TEST(CommandLineTest, MissingValueAndNeedlessValue) {
  EXPECT_THAT(ErrorOf({"--http-port"}), HasSubstr("needs a value"));
  EXPECT_THAT(ErrorOf({"--disable-auto-complete-config=true"}), HasSubstr("takes no value"));
}

TEST(CommandLineTest, ControlModeAndStartupModels) {
  Settings s;
  ASSERT_TRUE(
      Parse({"--model-control-mode=EXPLICIT", "--load-model=a", "--load-model=b"}, &s).ok());
  EXPECT_EQ(s.server.control_mode, ModelControlMode::kExplicit);
  EXPECT_THAT(s.server.startup_models, ElementsAre("a", "b"));
  EXPECT_THAT(ErrorOf({"--load-model=a"}), HasSubstr("Use of '--load-model' requires setting "
                                                     "'--model-control-mode=explicit' as well."));
  Settings poll;
  ASSERT_TRUE(
      Parse({"--model-control-mode=poll", "--repository-poll-secs=3", "--model-namespacing=true"},
            &poll)
          .ok());
  EXPECT_EQ(poll.server.control_mode, ModelControlMode::kPoll);
  EXPECT_EQ(poll.server.repository_poll_secs, 3u);
  EXPECT_TRUE(poll.server.model_namespacing);
}

TEST(CommandLineTest, ModelsOnDemand) {
  Settings s;
  ASSERT_TRUE(
      Parse({"--model-control-mode=ondemand", "--memory-budget=5000000000", "--idle-unload-secs=7",
             "--load-wait-secs=8", "--load-model=a", "--footprints-file=/state/footprints"},
            &s)
          .ok());
  EXPECT_EQ(s.server.control_mode, ModelControlMode::kOnDemand);
  EXPECT_EQ(s.server.memory_budget, 5'000'000'000u);
  EXPECT_EQ(s.server.idle_unload_secs, 7u);
  EXPECT_EQ(s.server.load_wait_secs, 8u);
  EXPECT_EQ(s.server.footprints_file, "/state/footprints");
  EXPECT_THAT(s.server.startup_models, ElementsAre("a"));
  for (const char* option :
       {"--memory-budget=1", "--idle-unload-secs=1", "--load-wait-secs=1", "--footprints-file=f"}) {
    EXPECT_THAT(ErrorOf({option}), HasSubstr("only with --model-control-mode=ondemand")) << option;
  }
}

TEST(CommandLineTest, BackendConfig) {
  Settings s;
  ASSERT_TRUE(Parse({"--backend-config=onnxruntime,threads=2",
                     "--backend-config=default-max-batch-size=5", "--backend-config=x,list=a,b"},
                    &s)
                  .ok());
  EXPECT_EQ(s.server.backend_settings["onnxruntime"]["threads"], "2");
  EXPECT_EQ(s.server.backend_settings[""]["default-max-batch-size"], "5");
  EXPECT_EQ(s.server.backend_settings["x"]["list"], "a,b");
  EXPECT_THAT(ErrorOf({"--backend-config=tf"}), HasSubstr("--backend-config option format is"));
  EXPECT_THAT(ErrorOf({"--backend-config=,a=b"}), HasSubstr("No backend specified."));
  for (const char* empty : {"default-max-batch-size=", "python,python=", "=1", "python,=1"}) {
    EXPECT_THAT(ErrorOf({std::string("--backend-config=") + empty}),
                HasSubstr("--backend-config option format is '<backend name>,<setting>=<value>'."));
  }
}

TEST(CommandLineTest, CacheConfig) {
  Settings s, old, none;
  ASSERT_TRUE(
      Parse({"--cache-config=redis,host=h", "--cache-config", "redis,password=a,b=c\""}, &s).ok());
  EXPECT_THAT(s.server.cache_configs,
              ElementsAre(std::pair("redis", R"({"host":"h","password":"a,b=c\""})")));
  ASSERT_TRUE(Parse({"--response-cache-byte-size=1024"}, &old).ok());
  EXPECT_THAT(old.server.cache_configs, ElementsAre(std::pair("local", R"({"size":"1024"})")));
  ASSERT_TRUE(Parse({"--response-cache-byte-size=0"}, &none).ok());
  EXPECT_TRUE(none.server.cache_configs.empty());

  for (const char* value : {"local", "size=5", ",size=5"}) {
    EXPECT_THAT(ErrorOf({std::string("--cache-config=") + value}),
                HasSubstr(std::string("No cache specified. --cache-config option format is <cache "
                                      "name>,<setting>=<value>. Got ") +
                          value));
  }
  for (const char* value : {"local,", "local,size", "local,=5", "local,size="}) {
    EXPECT_THAT(
        ErrorOf({std::string("--cache-config=") + value}),
        HasSubstr(
            std::string("--cache-config option format is '<cache name>,<setting>=<value>'. Got ") +
            value));
  }
  EXPECT_THAT(ErrorOf({"--response-cache-byte-size=0", "--cache-config=local,size=1"}),
              HasSubstr("Error: Incompatible flags --response-cache-byte-size and --cache-config "
                        "both provided. Please provide one or the other."));
}

TEST(CommandLineTest, MetricsConfig) {
  Settings s;
  ASSERT_TRUE(
      Parse({"--metrics-config=summary_latencies=true", "--metrics-config",
             "summary_quantiles=0.25:0.05,0.75:0.01", "--metrics-config=counter_latencies=false"},
            &s)
          .ok());
  EXPECT_TRUE(s.server.metrics_config.summary_latencies);
  EXPECT_FALSE(s.server.metrics_config.counter_latencies);
  EXPECT_FALSE(s.server.metrics_config.histogram_latencies);
  EXPECT_THAT(s.server.metrics_config.summary_quantiles, ElementsAre(0.25, 0.75));
  for (const char* value : {"summary_latencies", "=true", "group,summary_latencies=true", ""}) {
    EXPECT_THAT(ErrorOf({std::string("--metrics-config=") + value}),
                HasSubstr(std::string("--metrics-config option format is <setting>=<value>. Got ") +
                          value));
  }
  EXPECT_THAT(ErrorOf({"--metrics-config=latencies=true"}),
              HasSubstr("unknown metrics setting 'latencies'"));
}

TEST(CommandLineTest, RateLimit) {
  Settings s;
  ASSERT_TRUE(Parse({"--rate-limit=Execution_Count", "--rate-limit-resource=R:4",
                     "--rate-limit-resource=R:2:0", "--rate-limit-resource", "R:7"},
                    &s)
                  .ok());
  EXPECT_TRUE(s.server.rate_limit);
  EXPECT_THAT(s.server.rate_limiter_resources.at("R"),
              ElementsAre(std::pair(-1, 4u), std::pair(0, 2u)));
  ASSERT_TRUE(Parse({"--rate-limit=OFF"}, &s).ok());
  EXPECT_FALSE(s.server.rate_limit);
  EXPECT_THAT(ErrorOf({"--rate-limit=on"}), HasSubstr("invalid argument for --rate-limit"));
  for (const char* value : {"R", ":4", "R:4:0:1"}) {
    EXPECT_THAT(ErrorOf({std::string("--rate-limit-resource=") + value}),
                HasSubstr(std::string("--rate-limit-resource option format is "
                                      "'<resource_name>:<count>:<device>' or "
                                      "'<resource_name>:<count>'. Got ") +
                          value));
  }
  EXPECT_THAT(ErrorOf({"--rate-limit-resource=R:many"}), HasSubstr("Got many"));
  EXPECT_THAT(ErrorOf({"--rate-limit-resource=R:1:cpu"}), HasSubstr("Got cpu"));
}

TEST(CommandLineTest, HostPolicy) {
  Settings s;
  ASSERT_TRUE(Parse({"--host-policy=cpu,cpu-cores=0,2", "--host-policy=cpu,numa-node=1",
                     "--host-policy", "p,cpu-cores=1-3"},
                    &s)
                  .ok());
  EXPECT_THAT(s.server.host_policies.at("cpu"),
              ElementsAre(std::pair("cpu-cores", "0,2"), std::pair("numa-node", "1")));
  EXPECT_THAT(s.server.host_policies.at("p"), ElementsAre(std::pair("cpu-cores", "1-3")));
  for (const char* value : {"cpu", "cpu-cores=0", ",cpu-cores=0", "cpu,=0",
                            "cpu,cpu-cores=", "cpu,cpu-cores", "a=b,c"}) {
    EXPECT_THAT(ErrorOf({std::string("--host-policy=") + value}),
                HasSubstr(std::string("--host-policy option format is '<policy "
                                      "name>,<setting>=<value>'. Got ") +
                          value));
  }
  EXPECT_THAT(ErrorOf({"--host-policy=cpu,gpu=0"}),
              HasSubstr("Unsupported host policy setting 'gpu' is specified, supported settings "
                        "are 'numa-node', 'cpu-cores'"));
}

TEST(CommandLineTest, SamePortTwice) {
  EXPECT_THAT(ErrorOf({"--http-port=8001"}),
              HasSubstr("The server cannot listen to HTTP requests and GRPC requests at the same "
                        "address and port 0.0.0.0:8001"));
  EXPECT_THAT(ErrorOf({"--metrics-port=8000"}), HasSubstr("HTTP requests and metrics requests"));
  EXPECT_THAT(ErrorOf({"--allow-vertex-ai=true", "--vertex-ai-port=8002"}),
              HasSubstr("The server cannot listen to metrics requests and Vertex AI requests at "
                        "the same address and port 0.0.0.0:8002"));
  EXPECT_THAT(ErrorOf({"--allow-sagemaker=true", "--allow-vertex-ai=true"}),
              HasSubstr("SageMaker requests and Vertex AI requests at the same address and port "
                        "0.0.0.0:8080"));
  Settings off, elsewhere, any;
  EXPECT_TRUE(Parse({"--http-port=8001", "--allow-grpc=false"}, &off).ok());
  EXPECT_TRUE(Parse({"--http-port=8001", "--grpc-address=127.0.0.1"}, &elsewhere).ok());
  EXPECT_TRUE(Parse({"--http-port=0", "--grpc-port=0", "--metrics-port=0"}, &any).ok());
}

TEST(CommandLineTest, GpuOptions) {
  Settings none, s;
  EXPECT_FALSE(none.server.devices.min_compute_capability.has_value());
  EXPECT_FALSE(none.server.devices.pinned_pool_bytes.has_value());
  EXPECT_TRUE(none.server.gpu_metrics);
  ASSERT_TRUE(Parse({"--pinned-memory-pool-byte-size=0", "--cuda-memory-pool-byte-size=0:5",
                     "--cuda-memory-pool-byte-size=1:0", "--cuda-memory-pool-byte-size=0:67108864",
                     "--min-supported-compute-capability=7.5", "--model-load-gpu-limit=0:0.8",
                     "--cuda-virtual-address-size=0:1073741824", "--cuda-virtual-address-size=1:0",
                     "--allow-gpu-metrics=false"},
                    &s)
                  .ok());
  const DeviceOptions& devices = s.server.devices;
  EXPECT_EQ(devices.pinned_pool_bytes, 0u);
  EXPECT_EQ(devices.gpu_pool_bytes, (std::map<int, uint64_t>{{0, 67108864}, {1, 0}}));
  EXPECT_EQ(devices.address_bytes, (std::map<int, uint64_t>{{0, 1073741824}, {1, 0}}));
  EXPECT_EQ(devices.min_compute_capability, 7.5);
  EXPECT_EQ(devices.load_limits, (std::map<int, double>{{0, 0.8}}));
  EXPECT_FALSE(s.server.gpu_metrics);
  EXPECT_THAT(devices.given,
              ElementsAre("--cuda-memory-pool-byte-size", "--cuda-virtual-address-size",
                          "--model-load-gpu-limit", "--pinned-memory-pool-byte-size"));
  EXPECT_THAT(s.without_effect, ElementsAre());
}

TEST(CommandLineTest, OptionsWithoutEffectAreAcceptedAndNamed) {
  Settings s;
  ASSERT_TRUE(Parse({"--enable-peer-access=true", "--enable-peer-access=false",
                     "--buffer-manager-thread-count=-1"},
                    &s)
                  .ok());
  EXPECT_THAT(s.without_effect,
              ElementsAre("--enable-peer-access", "--buffer-manager-thread-count"));
}

TEST(CommandLineTest, ValuesOfGpuOptionsAreChecked) {
  EXPECT_THAT(ErrorOf({"--allow-gpu-metrics=maybe"}), HasSubstr("invalid value for bool option"));
  EXPECT_THAT(ErrorOf({"--enable-peer-access="}), HasSubstr("invalid value for bool option"));
  EXPECT_THAT(ErrorOf({"--pinned-memory-pool-byte-size=x"}), HasSubstr("Got x"));
  for (const char* name :
       {"--cuda-memory-pool-byte-size", "--cuda-virtual-address-size", "--model-load-gpu-limit"}) {
    EXPECT_THAT(ErrorOf({std::string(name) + "=5"}),
                HasSubstr(std::string("Bad option: \"") + name +
                          "\".\nCannot parse pair option due to incorrect number of "
                          "inputs.--<pair option> argument requires format <first>:<second>. "
                          "Found: 5"));
    EXPECT_THAT(ErrorOf({std::string(name) + "=gpu:0"}),
                HasSubstr("Invalid option value. Got gpu"));
    EXPECT_THAT(ErrorOf({std::string(name) + "=0:x"}), HasSubstr("Invalid option value. Got x"));
  }
  EXPECT_THAT(ErrorOf({"--model-load-gpu-limit=0:1.5"}),
              HasSubstr("expects limit fraction to be in range [0.0, 1.0], got 1.5"));
  for (const char* value : {"", "new", "nan"}) {
    EXPECT_THAT(ErrorOf({std::string("--min-supported-compute-capability=") + value}),
                HasSubstr(std::string("Invalid option value. Got ") + value));
  }
  EXPECT_THAT(ErrorOf({"--buffer-manager-thread-count=two"}),
              HasSubstr("Invalid option value. Got two"));
}

TEST(CommandLineTest, DeprecatedOptionsSaySo) {
  Settings s, none;
  ASSERT_TRUE(Parse({"--strict-model-config=true", "--response-cache-byte-size=5"}, &s).ok());
  EXPECT_FALSE(s.server.auto_complete_config);
  EXPECT_THAT(s.deprecations,
              ElementsAre("Warning: '--strict-model-config' has been deprecated! Please use "
                          "'--disable-auto-complete-config' instead.",
                          "Warning: '--response-cache-byte-size' has been deprecated! Please use "
                          "'--cache-config=local,size=<bytes>' instead."));
  ASSERT_TRUE(Parse({"--disable-auto-complete-config"}, &none).ok());
  EXPECT_FALSE(none.server.auto_complete_config);
  EXPECT_THAT(none.deprecations, ElementsAre());
}

TEST(CommandLineTest, RepositoryIsNeededUnlessHelpIsAsked) {
  Settings s, help;
  EXPECT_THAT(std::string(ParseCommandLine({}, &s).message()),
              HasSubstr("--model-repository must be specified"));
  EXPECT_TRUE(ParseCommandLine({"--help"}, &help).ok());
  EXPECT_TRUE(help.help);
}

TEST(CommandLineTest, SafePortsOfSagemaker) {
  EXPECT_THAT(ErrorOf({"--allow-sagemaker=1", "--sagemaker-safe-port-range=9000-9100"}),
              HasSubstr("The server cannot listen to HTTP requests at port 8000, allowed port "
                        "range is [9000, 9100]"));
  Settings off, inside, http_only;
  EXPECT_TRUE(Parse({"--sagemaker-safe-port-range=9000-9100"}, &off).ok());
  EXPECT_TRUE(
      Parse({"--allow-sagemaker=1", "--sagemaker-safe-port-range=8000-8002"}, &inside).ok());
  EXPECT_TRUE(Parse({"--allow-sagemaker=1", "--sagemaker-safe-port-range=8000-8000",
                     "--allow-grpc=0", "--allow-metrics=0"},
                    &http_only)
                  .ok());
  for (const char* range : {"", "1", "1-", "-2", "2-1", "1-70000", "a-b"}) {
    EXPECT_THAT(ErrorOf({std::string("--sagemaker-safe-port-range=") + range}),
                HasSubstr("Bad option: \"--sagemaker-safe-port-range\""))
        << range;
  }
}

TEST(CommandLineTest, HelpNamesEveryOption) {
  Settings s;
  const std::string text = HelpText("nereid");
  const std::string page = HelpMarkdown();
  for (const FlagGroup& group : MakeFlagTable(&s)) {
    for (const Flag& flag : group.flags) {
      EXPECT_THAT(text, HasSubstr("--" + flag.name));
      EXPECT_THAT(page, HasSubstr("`--" + flag.name));
    }
  }
}

}  // namespace
}  // namespace nereid
