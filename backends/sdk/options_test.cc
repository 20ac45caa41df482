// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kRead[] = {"engine.disable_packing", "engine.ep.*"};
constexpr OptionSpec kParameters[] = {
    PassedOn(TextOption("engine.*"), kRead, "Engine"),
    ThreadsOption("thread_count"),
    BoolOption("keep_memory"),
    IntegerOption("most_states", 1, 9),
    WithChoices(IntegerOption("streams", 1, 9), "auto|numa"),
    ChoiceOption("hint", "latency|throughput"),
    NonEmptyOption("folder"),
    LeadingIntegerOption("bytes", 1),
    TextOption("session.*"),
    WithoutEffect(BoolOption("cudnn"), "there is no GPU"),
    OtherName("old_thread_count", "thread_count", "is the old name of thread_count"),
    RefusedAs(ChoiceOption("device", "cpu"), "{model}: {name} is {value} ({lower})"),
};
constexpr OptionSpec kSettings[] = {BoolOption("fork-server")};
constexpr BackendOptions kOptions = {"example", kParameters, kSettings};

class OptionsTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  // Reads the parameters {name, value, name, value ...}.
  Result<OptionValues> Read(std::initializer_list<const char*> parameters,
                            const BackendOptions& options = kOptions) {
    Json given = Json::MakeObject();
    for (auto at = parameters.begin(); at != parameters.end(); at += 2) {
      Json value;
      value.Set("string_value", at[1]);
      given.Set(at[0], std::move(value));
    }
    ModelConfig config;
    config.name = "m";
    config.json.Set("parameters", std::move(given));
    ::testing::internal::CaptureStderr();
    Result<OptionValues> values = ReadParameters(options, config);
    log_ = ::testing::internal::GetCapturedStderr();
    return values;
  }
  std::string Refusal(const char* name, const char* value) {
    Result<OptionValues> values = Read({name, value});
    return values.ok() ? "" : values.error().message();
  }

  std::string log_;  // of the last Read
};

TEST_F(OptionsTest, ValuesHaveTheKindsOfTheTable) {
  const Result<OptionValues> values =
      Read({"thread_count", "3", "keep_memory", "On", "most_states", "9", "streams", "NUMA", "hint",
            "Latency", "folder", "/Data", "bytes", "10MB", "session.a", "1"});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->Integer("thread_count"), 3);
  EXPECT_EQ(values->Bool("keep_memory"), true);
  EXPECT_EQ(values->Integer("most_states"), 9);
  EXPECT_EQ(values->Integer("streams"), std::nullopt);
  EXPECT_EQ(values->Text("streams"), "numa");
  EXPECT_EQ(values->Text("hint"), "latency");
  EXPECT_EQ(values->Text("folder"), "/Data");
  EXPECT_EQ(values->Integer("bytes"), 10);
  EXPECT_THAT(values->by_prefix(), ElementsAre(Pair("session.a", "1")));
  EXPECT_THAT(log_, HasSubstr("Configuring 'hint' to 'Latency' for model 'm'"));
}

TEST_F(OptionsTest, WhatIsNotGivenHasNoValue) {
  const Result<OptionValues> values = Read({});
  ASSERT_TRUE(values.ok());
  EXPECT_FALSE(values->Has("hint"));
  EXPECT_EQ(values->Integer("thread_count"), std::nullopt);
  EXPECT_EQ(values->Bool("keep_memory"), std::nullopt);
  EXPECT_THROW(values->Bool("keep_memroy"), std::logic_error);
  EXPECT_EQ(log_, "");
}

TEST_F(OptionsTest, TruthInTheWordsOfTheOriginalAndOfItsBackends) {
  for (const char* text : {"1", "true", "TRUE", "on", "On", "yes", "YES"}) {
    EXPECT_EQ(Read({"keep_memory", text})->Bool("keep_memory"), true) << text;
  }
  for (const char* text : {"0", "false", "False", "off", "OFF", "no"}) {
    EXPECT_EQ(Read({"keep_memory", text})->Bool("keep_memory"), false) << text;
  }
  for (const char* text : {"", "2", "tru", "enable", " on"}) {
    EXPECT_THAT(Refusal("keep_memory", text),
                HasSubstr("parameter 'keep_memory' of model 'm' must be 1 or 0, true or false"));
  }
}

TEST_F(OptionsTest, ValuesOfNoKindAreRefused) {
  EXPECT_EQ(Refusal("most_states", "10"),
            "parameter 'most_states' of model 'm' must be an integer from 1 to 9, got '10'");
  EXPECT_NE(Refusal("most_states", "1x"), "");
  EXPECT_NE(Refusal("most_states", "99999999999999999999"), "");
  EXPECT_EQ(Refusal("streams", "0"),
            "parameter 'streams' of model 'm' must be 'auto', 'numa', or an integer from 1 to 9, "
            "got '0'");
  EXPECT_EQ(Refusal("hint", "fast"),
            "parameter 'hint' of model 'm' must be one of 'latency', 'throughput', got 'fast'");
  EXPECT_NE(Refusal("folder", ""), "");
  EXPECT_NE(Refusal("bytes", "MB"), "");
  EXPECT_NE(Refusal("thread_count", "5000"), "");
  EXPECT_EQ(Refusal("device", "GPU"), "m: device is GPU (gpu)");
}

// As in Triton, a negative number of threads says nothing.
TEST_F(OptionsTest, NegativeThreadsCountAsNotGiven) {
  const Result<OptionValues> values = Read({"thread_count", "-1"});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->Integer("thread_count"), std::nullopt);
  EXPECT_THAT(log_, HasSubstr("parameter 'thread_count' is -1 and has no effect"));
}

TEST_F(OptionsTest, WhatHasNoEffectIsSaid) {
  EXPECT_TRUE(Read({"cudnn", "on"}).ok());
  EXPECT_THAT(log_, AllOf(HasSubstr("model 'm': parameter 'cudnn' has no effect: there is no GPU"),
                          Not(HasSubstr("Configuring"))));
  EXPECT_NE(Refusal("cudnn", "perhaps"), "") << "its value is checked all the same";
}

TEST_F(OptionsTest, AnOptionsOwnNameCountsMoreThanAnother) {
  EXPECT_EQ(Read({"old_thread_count", "2"})->Integer("thread_count"), 2);
  EXPECT_THAT(log_, HasSubstr("'old_thread_count' is the old name of thread_count"));
  EXPECT_EQ(Read({"old_thread_count", "2", "thread_count", "3"})->Integer("thread_count"), 3);
  EXPECT_EQ(Read({"thread_count", "3", "old_thread_count", "2"})->Integer("thread_count"), 3);
  EXPECT_NE(Refusal("old_thread_count", "many"), "");
}

TEST_F(OptionsTest, UnknownNamesAreWarnedOfWithTheNearestKnownOne) {
  const auto warning = [&](const char* name) {
    EXPECT_TRUE(Read({name, "1"}).ok());
    return log_;
  };
  EXPECT_THAT(warning("thread_cnt"),
              HasSubstr("model 'm': parameter 'thread_cnt' is unknown and has no effect (did you "
                        "mean 'thread_count'?)"));
  EXPECT_THAT(warning("Keep_Memory"), HasSubstr("(did you mean 'keep_memory'?)"));
  EXPECT_THAT(warning("sesion.a"), HasSubstr("(did you mean 'session.a'?)"));
  EXPECT_THAT(warning("owner"),
              AllOf(HasSubstr("parameter 'owner' is unknown"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(warning(std::string(100'000, 'x').c_str()), HasSubstr("is unknown"));
}

TEST_F(OptionsTest, NamesThatAreOnlyPassedOnAreComparedWithThoseThatAreRead) {
  const auto warning = [&](const char* name) {
    const Result<OptionValues> values = Read({name, "1"});
    EXPECT_EQ(values->by_prefix().size(), name[0] == 'e' ? 1u : 0u) << name;
    return log_;
  };
  EXPECT_THAT(warning("engine.disable_packing"), Not(HasSubstr("known")));
  EXPECT_THAT(warning("engine.ep.anything"), Not(HasSubstr("known")));
  EXPECT_THAT(warning("engine.disable_pakcing"),
              HasSubstr("model 'm': parameter 'engine.disable_pakcing' is passed on to Engine, "
                        "which is not known to read it (did you mean 'engine.disable_packing'?)"));
  EXPECT_THAT(warning("engine.x"),
              AllOf(HasSubstr("which is not known to read it"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(warning("ngine.disable_packing"),
              HasSubstr("is unknown and has no effect (did you mean 'engine.disable_packing'?)"));
}

TEST_F(OptionsTest, WhatTheServerReadsIsNotUnknown) {
  EXPECT_TRUE(Read({"nereid.target_p99_us", "5000", "tfs.version_labels", "a=1", "openai.takes",
                    "n", "TRITON_BATCH_STRATEGY_PATH", "a.so"})
                  .ok());
  EXPECT_EQ(log_, "");
}

TEST_F(OptionsTest, ModelsThatAreProgramsHaveParametersOfTheirOwn) {
  BackendOptions options = kOptions;
  options.models_read_parameters = true;
  EXPECT_TRUE(Read({"tokenizer", "bert"}, options).ok());
  EXPECT_EQ(log_, "");
  EXPECT_TRUE(Read({"thraed_count", "1"}, options).ok());
  EXPECT_THAT(log_, HasSubstr("did you mean 'thread_count'?"));
}

TEST_F(OptionsTest, Settings) {
  const auto read = [&](const std::string& json) {
    ::testing::internal::CaptureStderr();
    Result<OptionValues> values = ReadSettings(kOptions, *Json::Parse(json));
    log_ = ::testing::internal::GetCapturedStderr();
    return values;
  };
  Result<OptionValues> values = read(
      R"({"auto-complete-config":"true","backend-directory":"/b","min-compute-capability":"6.0",
          "default-max-batch-size":"8","fork-server":"off"})");
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(DefaultMaxBatchSize(*values), 8);
  EXPECT_EQ(values->Bool("fork-server"), false);
  EXPECT_EQ(log_, "");
  EXPECT_EQ(DefaultMaxBatchSize(*read("{}")), 4);
  EXPECT_TRUE(read(R"({"fork-sever":"1"})").ok());
  EXPECT_THAT(log_, HasSubstr("backend 'example': setting 'fork-sever' is unknown and has no "
                              "effect (did you mean 'fork-server'?)"));
  values = read(R"({"default-max-batch-size":"many"})");
  ASSERT_FALSE(values.ok());
  EXPECT_THAT(values.error().message(),
              HasSubstr("backend setting 'default-max-batch-size' must be an integer from 0"));
}

}  // namespace
}  // namespace nereid_backend
