// SPDX-License-Identifier: Apache-2.0
// Tests the C API while resources fail, one in each pass: each allocation of the calling thread,
// each allocation of the server's own threads, and each creation of a thread. Meanwhile servers
// start, models are loaded and unloaded, requests are built, issued and answered, values and
// metrics are created, and reports are requested. The call or the request then returns an error or
// works without the resource. Nothing crashes, hangs or leaks, and the same scenario succeeds if
// nothing fails.
//
//   capi_faults_test [--stride=N] [--phase=N] [--leaks-each]
//
// With a stride only every Nth failure is tried, beginning with the phase. Without one each
// scenario has its own stride, so that the whole test takes seconds. Under AddressSanitizer there
// is also a check for leaks after each test and, with --leaks-each, after each pass. The latter
// looks while a server lives, so it is only right for short tests (see LeakChecker).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "backends/sdk/json.h"
#include "tests/conformance/capi/faults/faults.h"
#include "tests/conformance/capi/faults/probe.h"
#include "tests/conformance/capi/harness.h"
#include "tests/conformance/capi/storm/storm_models.h"

extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();
extern "C" __attribute__((weak)) void __sanitizer_print_stack_trace();

// Ignores leaks in protobuf messages, whose generated code loses memory if a later part of a copy
// fails, and memory that the C library keeps for each thread, which the sanitizer does not always
// find. Exported, because the sanitizer's library looks it up.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:google::protobuf\nleak:inference::\nleak:__cxa_thread_atexit_impl\nleak:_dlerror_"
         "run\n";
}

namespace nereid_test {
namespace {

uint64_t stride = 0;  // 0: each scenario's own
uint64_t phase = 1;
// Strides for scenarios that would take thousands of passes.
constexpr uint64_t kFewOfAServer = 97;
constexpr uint64_t kFewOfLoads = 41;
bool look_for_leaks_each_time = false;

// Returns true if the scenario came to its end.
using Scenario = std::function<bool(Probe* probe)>;

void CheckLeaks(const std::string& after) {
  if (__lsan_do_recoverable_leak_check != nullptr) {
    ASSERT_EQ(__lsan_do_recoverable_leak_check(), 0) << "leaked after " << after;
  }
}

// Checks when the test's server has ended. The sanitizer of GCC 12 does not find a thread whose
// number another thread of the process had before, and the kernel may begin again at 32,768. What
// only a thread-local variable of such a thread refers to is then reported, although it is no leak.
class LeakChecker : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override { CheckLeaks(test.name()); }
};

void FailEach(faults::Kind kind, const std::string& name, const Scenario& scenario,
              uint64_t sample = 1) {
  const uint64_t step = stride == 0 ? sample : stride;
  uint64_t failed = 0, with_error = 0, number = phase, last = 0;
  while (true) {
    const std::string what = name + ", failure " + std::to_string(number);
    SCOPED_TRACE(what);
    Probe probe;
    faults::Arm(kind, number);
    const bool done = scenario(&probe);
    last = faults::Disarm();
    if (last == 0) {
      EXPECT_TRUE(done) << probe.failure();
    } else {
      ++failed;
      with_error += !done;
      Probe again;
      ASSERT_TRUE(scenario(&again)) << "afterwards: " << again.failure();
    }
    if (look_for_leaks_each_time) {
      ASSERT_NO_FATAL_FAILURE(CheckLeaks(what));
    }
    if (last == 0 || testing::Test::HasFailure()) break;
    number = last + step;
  }
  std::printf("%s: %llu failures, up to number %llu, %llu of them with an error\n", name.c_str(),
              static_cast<unsigned long long>(failed), static_cast<unsigned long long>(number - 1),
              static_cast<unsigned long long>(with_error));
  std::fflush(stdout);
  EXPECT_GT(failed + (step > 1), 0u) << "nothing was made to fail";
}

struct OptionsDeleter {
  void operator()(TRITONSERVER_ServerOptions* options) const {
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsDelete(options)));
  }
};

// ---- Small objects.

bool MakeValues(Probe* probe) {
  Probe& call = *probe;
  TRITONSERVER_Parameter* parameter = nullptr;
  const bool made = call.Makes([&] {
    parameter = TRITONSERVER_ParameterNew("a name that is longer than a short string",
                                          TRITONSERVER_PARAMETER_STRING,
                                          "a value that is longer than a short string");
    return parameter != nullptr;
  });
  TRITONSERVER_ParameterDelete(parameter);
  if (!made) return false;

  TRITONSERVER_Message* message = nullptr;
  const std::string json(100, ' ');
  if (!call([&] {
        return TRITONSERVER_MessageNewFromSerializedJson(&message, json.data(), json.size());
      })) {
    return false;
  }
  EXPECT_TRUE(Ok(TRITONSERVER_MessageDelete(message)));

  TRITONSERVER_BufferAttributes* attributes = nullptr;
  if (!call([&] { return TRITONSERVER_BufferAttributesNew(&attributes); })) return false;
  EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesDelete(attributes)));
  // Creating an error succeeds even if memory is exhausted.
  TRITONSERVER_Error* error = nullptr;
  call.Makes([&] {
    error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "a text that needs an allocation");
    return true;
  });
  EXPECT_NE(error, nullptr);
  TRITONSERVER_ErrorDelete(error);
  return true;
}

TEST(Faults, OfAllocationsOfValues) { FailEach(faults::Kind::kAllocation, "values", MakeValues); }

bool MakeMetrics(Probe* probe) {
  Probe& call = *probe;
  TRITONSERVER_MetricFamily* family = nullptr;
  TRITONSERVER_Metric* metric = nullptr;
  TRITONSERVER_MetricArgs* args = nullptr;
  TRITONSERVER_Parameter* label = TRITONSERVER_ParameterNew(
      "label_of_the_metric", TRITONSERVER_PARAMETER_STRING, "a value of a label");
  const TRITONSERVER_Parameter* labels[] = {label};
  const double buckets[] = {1, 2, 3};
  const bool done =
      call([&] {
        return TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_HISTOGRAM,
                                            "family_of_the_faults_test", "with a description");
      }) &&
      call([&] { return TRITONSERVER_MetricArgsNew(&args); }) &&
      call([&] { return TRITONSERVER_MetricArgsSetHistogram(args, buckets, 3); }) &&
      call([&] { return TRITONSERVER_MetricNewWithArgs(&metric, family, labels, 1, args); }) &&
      call([&] { return TRITONSERVER_MetricObserve(metric, 1.5); });
  EXPECT_TRUE(Ok(TRITONSERVER_MetricDelete(metric)));
  EXPECT_TRUE(Ok(TRITONSERVER_MetricFamilyDelete(family)));
  if (args != nullptr) {
    EXPECT_TRUE(Ok(TRITONSERVER_MetricArgsDelete(args)));
  }
  TRITONSERVER_ParameterDelete(label);
  return done;
}

TEST(Faults, OfAllocationsOfMetrics) {
  FailEach(faults::Kind::kAllocation, "metrics", MakeMetrics);
}

// Settings as backends read them, copied: objects in arrays in objects.
bool CopySettings(Probe* probe) {
  using nereid_backend::Json;
  const std::string text = "a text that is longer than a short string";
  Json::Object inner;
  inner.emplace_back("a name that is longer than a short string", Json(text));
  const Json::Array values = {Json(text), Json(std::move(inner)), Json(int64_t{1})};
  Json::Object outer;
  outer.emplace_back("another name that is longer than a short string", Json(values));
  outer.emplace_back("text", Json(text));
  const Json settings(std::move(outer));
  return probe->Makes([&] {
    try {
      const Json copy = settings;
      return copy.Write() == settings.Write();
    } catch (const std::bad_alloc&) {
      return false;
    }
  });
}

TEST(Faults, OfAllocationsOfSettings) {
  FailEach(faults::Kind::kAllocation, "settings", CopySettings);
}

// ---- A server's life.

using OptionsPtr = std::unique_ptr<TRITONSERVER_ServerOptions, OptionsDeleter>;

// Null if `probe` has failed.
OptionsPtr MakeOptions(const Repository& repository, TRITONSERVER_ModelControlMode mode,
                       Probe* probe) {
  Probe& call = *probe;
  TRITONSERVER_ServerOptions* made = nullptr;
  if (!call([&] { return TRITONSERVER_ServerOptionsNew(&made); })) return nullptr;
  OptionsPtr options(made);
  const bool set =
      call([&] {
        return TRITONSERVER_ServerOptionsSetServerId(made, "a server with a name of some length");
      }) &&
      call([&] {
        return TRITONSERVER_ServerOptionsSetModelRepositoryPath(made, repository.path().c_str());
      }) &&
      call([&] {
        return TRITONSERVER_ServerOptionsSetBackendDirectory(made, NEREID_TEST_BACKENDS);
      }) &&
      call([&] { return TRITONSERVER_ServerOptionsSetCacheDirectory(made, NEREID_TEST_CACHES); }) &&
      call([&] {
        return TRITONSERVER_ServerOptionsSetCacheConfig(made, "local", "{\"size\": 1000000}");
      }) &&
      call([&] {
        return TRITONSERVER_ServerOptionsSetBackendConfig(made, "identity", "a setting of it",
                                                          "and the value of the setting");
      }) &&
      call([&] {
        return TRITONSERVER_ServerOptionsAddRateLimiterResource(made, "a resource of some name", 2,
                                                                0);
      }) &&
      call([&] {
        return TRITONSERVER_ServerOptionsSetHostPolicy(made, "a policy of some name", "cpu-cores",
                                                       "0-1");
      }) &&
      call([&] { return TRITONSERVER_ServerOptionsSetModelControlMode(made, mode); }) &&
      call([&] { return TRITONSERVER_ServerOptionsSetLogInfo(made, false); }) &&
      call([&] { return TRITONSERVER_ServerOptionsSetLogWarn(made, false); }) &&
      call([&] { return TRITONSERVER_ServerOptionsSetLogError(made, false); });
  return set ? std::move(options) : nullptr;
}

// The configuration of an ensemble with one member.
std::string GraphOf(const std::string& member) {
  return R"(platform: "ensemble"
max_batch_size: 8
input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
ensemble_scheduling { step { model_name: ")" +
         member + R"(" model_version: -1
  input_map { key: "INPUT0" value: "IN" } output_map { key: "OUTPUT0" value: "OUT" } } }
)";
}

bool DeleteServer(TRITONSERVER_Server* server) {
  const testing::AssertionResult deleted = Ok(TRITONSERVER_ServerDelete(server));
  EXPECT_TRUE(deleted);
  return deleted;
}

// Starts a server with models of every kind, one of which answers a request.
class ServerLife : public testing::Test {
 protected:
  ServerLife() {
    repository_.AddModel("plain", IdentityConfig());
    repository_.AddModel("batched", IdentityConfig("dynamic_batching { preserve_ordering: true }"));
    repository_.AddModel("cached", IdentityConfig("response_cache { enable: true }"));
    repository_.AddModel("states", IdentityConfig("sequence_batching { }"));
    repository_.AddModel("graph", GraphOf("plain"));
  }

  bool Live(Probe* probe) {
    const OptionsPtr options = MakeOptions(repository_, TRITONSERVER_MODEL_CONTROL_NONE, probe);
    if (options == nullptr) return false;
    TRITONSERVER_Server* server = nullptr;
    if (!(*probe)([&] { return TRITONSERVER_ServerNew(&server, options.get()); })) {
      EXPECT_EQ(server, nullptr);
      return false;
    }
    StormRandom random(1);
    StormRequest request = RandomRequest("plain", &random);
    bool done;
    {
      ProbeFlight flight(server);
      done = flight.Run(request, probe);
    }
    done = done && (*probe)([&] { return TRITONSERVER_ServerStop(server); });
    return DeleteServer(server) && done;
  }

  Repository repository_;
};

TEST_F(ServerLife, OfThreads) {
  FailEach(faults::Kind::kThread, "threads of a server's life",
           [this](Probe* probe) { return Live(probe); });
}

TEST_F(ServerLife, OfAllocations) {
  FailEach(
      faults::Kind::kAllocation, "allocations of a server's life",
      [this](Probe* probe) { return Live(probe); }, kFewOfAServer);
}

TEST_F(ServerLife, OfCoreAllocations) {
  FailEach(
      faults::Kind::kCoreAllocation, "allocations of a server's own threads",
      [this](Probe* probe) { return Live(probe); }, kFewOfAServer);
}

// ---- Sequences and ensembles of one server, which is the same in all passes.

class Chains : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // Longer than a busy machine pauses between two requests of a sequence.
    const std::string idle = "max_sequence_idle_microseconds: 60000000\n";
    repository_.AddModel("direct", IdentityConfig("sequence_batching { " + idle + "}"));
    repository_.AddModel("oldest", IdentityConfig("sequence_batching { " + idle +
                                                  "oldest { max_candidate_sequences: 2 "
                                                  "preserve_ordering: true } }"));
    repository_.AddModel("graph", GraphOf("direct"));
    Probe probe;
    const OptionsPtr options =
        MakeOptions(repository_, TRITONSERVER_MODEL_CONTROL_EXPLICIT, &probe);
    ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "*")));
    ASSERT_TRUE(Ok(TRITONSERVER_ServerNew(&server_, options.get())));
  }
  // The server can end, so every sequence has ended.
  void TearDown() override { DeleteServer(server_); }

  StormRequest Next(uint64_t id, uint32_t flags) {
    StormRandom random(1);
    StormRequest request = RandomRequest("cached", &random);
    request.model = GetParam();
    if (request.model == "graph") {
      request.inputs[0].name = "IN";
      request.output = "OUT";
    }
    request.correlation_id = id;
    request.flags = flags;
    return request;
  }

  // Sends a sequence of three requests, and another sequence that is cancelled. What is left of a
  // sequence is ended, so that it does not take a place for the next ones.
  bool Ask(Probe* probe) {
    const uint64_t whole = ++last_id_;
    const uint64_t cancelled = ++last_id_;
    const bool done = AskWhole(whole, probe) && AskCancelled(cancelled, probe);
    End(cancelled);
    if (!done) End(whole);
    return done;
  }

  bool AskWhole(uint64_t id, Probe* probe) {
    for (const uint32_t flags : {uint32_t{TRITONSERVER_REQUEST_FLAG_SEQUENCE_START}, uint32_t{0},
                                 uint32_t{TRITONSERVER_REQUEST_FLAG_SEQUENCE_END}}) {
      ProbeFlight flight(server_);
      if (!flight.Run(Next(id, flags), probe)) return false;
    }
    return true;
  }

  bool AskCancelled(uint64_t id, Probe* probe) {
    ProbeFlight first(server_);
    if (!first.Run(Next(id, TRITONSERVER_REQUEST_FLAG_SEQUENCE_START), probe)) return false;
    ProbeFlight second(server_);
    if (!second.Issue(Next(id, 0), probe, /*cancel=*/true)) return false;
    Probe unused;
    second.Wait(&unused);  // an error, or an answer that came before the cancellation
    return true;
  }

  // Ends a sequence that may have ended, or may never have begun. The one failure of a pass may hit
  // the first attempt.
  void End(uint64_t id) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      Probe unused;
      ProbeFlight flight(server_);
      flight.Run(Next(id, TRITONSERVER_REQUEST_FLAG_SEQUENCE_END), &unused);
    }
  }

  Repository repository_;
  TRITONSERVER_Server* server_ = nullptr;
  uint64_t last_id_ = 0;
};

TEST_P(Chains, OfAllocations) {
  FailEach(faults::Kind::kAllocation, "sequences of " + GetParam(),
           [this](Probe* probe) { return Ask(probe); });
}

TEST_P(Chains, OfCoreAllocations) {
  FailEach(faults::Kind::kCoreAllocation, "the server's threads with sequences of " + GetParam(),
           [this](Probe* probe) { return Ask(probe); });
}

INSTANTIATE_TEST_SUITE_P(Faults, Chains, testing::Values("direct", "oldest", "graph"),
                         [](const auto& info) { return info.param; });

// ---- Requests to one server, which is the same in all passes.

class Requests : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    AddStormModels(&repository_);
    Probe probe;
    const OptionsPtr options =
        MakeOptions(repository_, TRITONSERVER_MODEL_CONTROL_EXPLICIT, &probe);
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetRateLimiterMode(
        options.get(), TRITONSERVER_RATE_LIMIT_EXEC_COUNT)));
    ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), GetParam().c_str())));
    ASSERT_TRUE(Ok(TRITONSERVER_ServerNew(&server_, options.get())));
  }
  // The server can end, so every request has left it.
  void TearDown() override { DeleteServer(server_); }

  // Sends requests one after the other, then one that is cancelled.
  bool Ask(Probe* probe) {
    StormRandom random(7);
    for (int i = 0; i < 3; ++i) {
      StormRequest request = RandomRequest(GetParam(), &random);
      request.timeout_us = 0;
      request.priority =
          1;  // its level of `urgent` has no time-out, which a busy machine might miss
      if (request.fails) continue;
      ProbeFlight flight(server_);
      if (!flight.Run(request, probe)) return false;
    }
    StormRequest request = RandomRequest(GetParam(), &random);
    request.timeout_us = 1'000'000;
    ProbeFlight flight(server_);
    if (!flight.Issue(request, probe, /*cancel=*/true)) return false;
    Probe unused;
    flight.Wait(&unused);  // an error, or an answer that came before the cancellation
    return true;
  }

  // Checks that no request is pending any more.
  void CheckPending() {
    TRITONSERVER_Metrics* metrics = nullptr;
    ASSERT_TRUE(Ok(TRITONSERVER_ServerMetrics(server_, &metrics)));
    const char* base = nullptr;
    size_t size = 0;
    EXPECT_TRUE(
        Ok(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size)));
    const std::string text(base, size);
    EXPECT_NE(text.find("nv_inference_pending_request_count{model=\"" + GetParam() +
                        "\",version=\"1\"} 0\n"),
              std::string::npos)
        << text;
    EXPECT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
  }

  Repository repository_;
  TRITONSERVER_Server* server_ = nullptr;
};

TEST_P(Requests, OfAllocations) {
  FailEach(faults::Kind::kAllocation, "requests to " + GetParam(),
           [this](Probe* probe) { return Ask(probe); });
  CheckPending();
}

TEST_P(Requests, OfCoreAllocations) {
  FailEach(faults::Kind::kCoreAllocation, "the server's threads with requests to " + GetParam(),
           [this](Probe* probe) { return Ask(probe); });
  CheckPending();
}

INSTANTIATE_TEST_SUITE_P(Faults, Requests,
                         testing::Values("plain", "urgent", "late", "ordered", "limited_b",
                                         "cached", "cached_batched", "kept", "many", "repeat"),
                         [](const auto& info) { return info.param; });

// ---- What a server is asked and told besides.

class Control : public testing::Test {
 protected:
  Control() {
    repository_.AddModel("model", IdentityConfig());
    repository_.AddModel("graph", GraphOf("model"));
    Probe probe;
    const OptionsPtr options =
        MakeOptions(repository_, TRITONSERVER_MODEL_CONTROL_EXPLICIT, &probe);
    EXPECT_TRUE(Ok(TRITONSERVER_ServerNew(&server_, options.get())));
  }
  ~Control() override { DeleteServer(server_); }

  // Loads a model with a configuration and a file from the client, infers, and unloads.
  bool LoadAndUnload(Probe* probe) {
    Probe& call = *probe;
    TRITONSERVER_Parameter* const config =
        TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING,
                                  R"({"backend": "identity", "max_batch_size": 8,
            "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [-1]}],
            "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [-1]}]})");
    TRITONSERVER_Parameter* const file = TRITONSERVER_ParameterBytesNew("file:1/model", "bytes", 5);
    const TRITONSERVER_Parameter* parameters[] = {config, file};
    bool done = call([&] {
      return TRITONSERVER_ServerLoadModelWithParameters(server_, "model", parameters, 2);
    });
    TRITONSERVER_ParameterDelete(config);
    TRITONSERVER_ParameterDelete(file);
    StormRandom random(1);
    StormRequest request = RandomRequest("plain", &random);
    request.model = "model";
    if (done) {
      ProbeFlight flight(server_);
      done = flight.Run(request, probe);
    }
    done = done && call([&] { return TRITONSERVER_ServerLoadModel(server_, "model"); }) &&
           Message([&](auto** m) { return TRITONSERVER_ServerModelIndex(server_, 0, m); }, probe) &&
           ChangeInstances(probe) &&
           call([&] { return TRITONSERVER_ServerLoadModel(server_, "graph"); }) &&
           // The ensemble is checked again with its member, and unloaded with it.
           ChangeInstances(probe) &&
           call([&] { return TRITONSERVER_ServerUnloadModelAndDependents(server_, "graph"); }) &&
           call([&] { return TRITONSERVER_ServerUnloadModel(server_, "model"); });
    return done;
  }

  // Changes the number of instances without a reload.
  bool ChangeInstances(Probe* probe) {
    instances_ = 3 - instances_;
    repository_.AddModel("model", IdentityConfig("instance_group { kind: KIND_CPU count: " +
                                                 std::to_string(instances_) + " }"));
    return (*probe)([&] { return TRITONSERVER_ServerLoadModel(server_, "model"); });
  }

  bool Report(Probe* probe) {
    Probe& call = *probe;
    bool ready = false;
    return call([&] { return TRITONSERVER_ServerIsReady(server_, &ready); }) &&
           call([&] { return TRITONSERVER_ServerModelIsReady(server_, "model", -1, &ready); }) &&
           Message([&](auto** m) { return TRITONSERVER_ServerMetadata(server_, m); }, probe) &&
           Message([&](auto** m) { return TRITONSERVER_ServerModelIndex(server_, 0, m); }, probe) &&
           Message(
               [&](auto** m) { return TRITONSERVER_ServerModelMetadata(server_, "model", -1, m); },
               probe) &&
           Message(
               [&](auto** m) { return TRITONSERVER_ServerModelConfig(server_, "model", -1, 1, m); },
               probe) &&
           Message([&](auto** m) { return TRITONSERVER_ServerModelStatistics(server_, "", -1, m); },
                   probe) &&
           Metrics(probe);
  }

  bool Metrics(Probe* probe) {
    Probe& call = *probe;
    TRITONSERVER_Metrics* metrics = nullptr;
    if (!call([&] { return TRITONSERVER_ServerMetrics(server_, &metrics); })) return false;
    const char* base = nullptr;
    size_t size = 0;
    const bool done = call([&] {
      return TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size);
    });
    EXPECT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
    return done;
  }

  template <typename Ask>
  static bool Message(const Ask& ask, Probe* probe) {
    TRITONSERVER_Message* message = nullptr;
    if (!(*probe)([&] { return ask(&message); })) return false;
    EXPECT_NE(TakeJson(message), "");
    return true;
  }

  Repository repository_;
  TRITONSERVER_Server* server_ = nullptr;
  int instances_ = 1;
};

TEST_F(Control, ThreadsOfLoading) {
  FailEach(faults::Kind::kThread, "threads of loading and unloading",
           [this](Probe* probe) { return LoadAndUnload(probe); });
}

TEST_F(Control, AllocationsOfLoading) {
  FailEach(
      faults::Kind::kAllocation, "allocations of loading and unloading",
      [this](Probe* probe) { return LoadAndUnload(probe); }, kFewOfLoads);
}

TEST_F(Control, CoreAllocationsOfLoading) {
  FailEach(
      faults::Kind::kCoreAllocation, "the server's threads with loading and unloading",
      [this](Probe* probe) { return LoadAndUnload(probe); }, kFewOfLoads);
}

TEST_F(Control, AllocationsOfReports) {
  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server_, "model")));
  FailEach(faults::Kind::kAllocation, "reports", [this](Probe* probe) { return Report(probe); });
}

}  // namespace
}  // namespace nereid_test

int main(int argc, char** argv) {
  std::set_terminate([] {
    const nereid_test::faults::Pause pause;
    if (__sanitizer_print_stack_trace != nullptr) __sanitizer_print_stack_trace();
    std::abort();
  });
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    char* end = nullptr;
    if (word.rfind("--stride=", 0) == 0) {
      nereid_test::stride = std::strtoull(word.c_str() + 9, &end, 10);
    } else if (word.rfind("--phase=", 0) == 0) {
      nereid_test::phase = std::strtoull(word.c_str() + 8, &end, 10);
    } else if (word == "--leaks-each") {
      nereid_test::look_for_leaks_each_time = true;
      continue;
    }
    if (end == nullptr || *end != '\0' || nereid_test::phase == 0) {
      std::fprintf(stderr, "usage: %s [--stride=N] [--phase=N] [--leaks-each]\n", argv[0]);
      return 2;
    }
  }
  testing::UnitTest::GetInstance()->listeners().Append(new nereid_test::LeakChecker);
  return RUN_ALL_TESTS();
}
