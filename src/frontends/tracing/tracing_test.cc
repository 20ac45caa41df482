// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/tracing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "frontends/tracing/testing/fake_trace_storage.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

class TracingTest : public ::testing::Test {
 protected:
  static TraceOptions Options(uint32_t rate = 1) {
    TraceOptions options;
    options.file = "log";
    options.settings.level = kTraceTimestamps;
    options.settings.rate = rate;
    return options;
  }
  void Start(const TraceOptions& options) {
    auto collector = std::make_shared<TraceCollector>(
        std::make_unique<TraceFiles>(options.file, storage_.Open()), &clock_,
        TraceCollector::Limits());
    tracing_ = std::make_unique<Tracing>(options, std::move(collector));
  }
  // "level rate count frequency"
  std::string Settings(const std::string& model = "") {
    const std::vector<TraceSettingText> texts = tracing_->Settings(model);
    std::string all;
    for (int i = 0; i < 4; ++i) all += (i == 0 ? "" : " ") + texts[i].values[0];
    return all;
  }
  absl::Status Update(const std::string& model, void (*change)(TraceUpdate*)) {
    TraceUpdate update;
    change(&update);
    return tracing_->Update(model, update);
  }
  // How many of so many requests are traced.
  int Sampled(const std::string& model, int requests) {
    int sampled = 0;
    for (int i = 0; i < requests; ++i) {
      const TracedRequestPtr traced = tracing_->Sample(model);
      if (traced == nullptr) continue;
      (void)traced->Begin();
      traced->Note(kResponseComplete);
      ++sampled;
    }
    return sampled;
  }

  FakeClock clock_;
  FakeTraceStorage storage_;
  std::unique_ptr<Tracing> tracing_;
};

TEST_F(TracingTest, WithoutALevelNothingIsOn) {
  EXPECT_FALSE(Tracing::Off()->on());
  EXPECT_EQ(Tracing::Off()->Sample("m"), nullptr);
  TraceOptions options = Options();
  options.settings.level = 0;
  Start(options);
  EXPECT_FALSE(tracing_->on());
  ASSERT_TRUE(Update("m", [](TraceUpdate* u) { u->level = kTraceTimestamps; }).ok());
  EXPECT_TRUE(tracing_->on());
  EXPECT_EQ(Sampled("m", 2), 2);
  EXPECT_EQ(Sampled("other", 2), 0);
  ASSERT_TRUE(Update("m", [](TraceUpdate* u) { u->level.emplace(); }).ok());
  EXPECT_FALSE(tracing_->on());
}

TEST_F(TracingTest, ModelsFollowTheGlobalSettingsWhereTheyHaveNone) {
  Start(Options(/*rate=*/10));
  ASSERT_TRUE(Update("m", [](TraceUpdate* u) { u->rate = 2; }).ok());
  EXPECT_EQ(Settings("m"), "TIMESTAMPS 2 -1 0");
  EXPECT_EQ(Settings("other"), "TIMESTAMPS 10 -1 0");
  ASSERT_TRUE(Update("", [](TraceUpdate* u) {
                u->rate = 5;
                u->log_frequency = 3;
              }).ok());
  EXPECT_EQ(Settings(), "TIMESTAMPS 5 -1 3");
  EXPECT_EQ(Settings("m"), "TIMESTAMPS 2 -1 3");
  EXPECT_EQ(Sampled("m", 10), 5);
  EXPECT_EQ(Sampled("other", 10), 2);
  // Cleared: the model follows the global settings, and those follow the command line.
  ASSERT_TRUE(Update("m", [](TraceUpdate* u) { u->rate.emplace(); }).ok());
  EXPECT_EQ(Settings("m"), "TIMESTAMPS 5 -1 3");
  ASSERT_TRUE(Update("", [](TraceUpdate* u) {
                u->rate.emplace();
                u->log_frequency.emplace();
              }).ok());
  EXPECT_EQ(Settings(), "TIMESTAMPS 10 -1 0");
}

TEST_F(TracingTest, WhatIsLeftOfACountIsShownAndKept) {
  TraceOptions options = Options();
  options.settings.count = 5;
  Start(options);
  EXPECT_EQ(Sampled("m", 2), 2);
  EXPECT_EQ(Settings(), "TIMESTAMPS 1 3 0");
  // That of the command line begins anew, one that a client has set does not.
  ASSERT_TRUE(Update("", [](TraceUpdate* u) { u->rate = 2; }).ok());
  EXPECT_EQ(Settings(), "TIMESTAMPS 2 5 0");
  ASSERT_TRUE(Update("", [](TraceUpdate* u) { u->count = 4; }).ok());
  EXPECT_EQ(Sampled("m", 2), 1);
  ASSERT_TRUE(Update("", [](TraceUpdate* u) { u->log_frequency = 7; }).ok());
  EXPECT_EQ(Settings(), "TIMESTAMPS 2 3 7");
  EXPECT_EQ(Sampled("m", 100), 3);
  EXPECT_EQ(Settings(), "TIMESTAMPS 2 0 7");
  ASSERT_TRUE(Update("m", [](TraceUpdate* u) { u->count = 1; }).ok());
  EXPECT_EQ(Sampled("m", 100), 1);
  EXPECT_EQ(Sampled("other", 100), 0);
  ASSERT_TRUE(Update("", [](TraceUpdate* u) { u->count.emplace(); }).ok());
  EXPECT_EQ(Settings(), "TIMESTAMPS 2 5 7");
  EXPECT_EQ(Settings("m"), "TIMESTAMPS 2 0 7");
}

TEST_F(TracingTest, SettingsThatCannotTraceAreRefused) {
  Start(Options());
  EXPECT_EQ(Update("", [](TraceUpdate* u) { u->rate = 0; }).message(),
            "Attempting to set invalid trace setting :sample rate must be non-zero");
  EXPECT_EQ(Settings(), "TIMESTAMPS 1 -1 0");
  // Off, it may be anything.
  ASSERT_TRUE(Update("", [](TraceUpdate* u) {
                u->rate = 0;
                u->level = 0;
              }).ok());
  Tracing nowhere(TraceOptions(), nullptr);
  TraceUpdate update;
  update.level = kTraceTensors;
  EXPECT_EQ(nowhere.Update("m", update).message(),
            "Attempting to set invalid trace setting :trace file name is not given");
  update.level = 0;
  EXPECT_TRUE(nowhere.Update("m", update).ok());
}

TEST_F(TracingTest, AllIsWrittenAtTheEnd) {
  TraceOptions options = Options();
  options.settings.log_frequency = 2;
  Start(options);
  const TracedRequestPtr traced = tracing_->Sample("m");
  traced->Begin();
  traced->Note(kResponseComplete);
  EXPECT_EQ(Sampled("m", 2), 2);
  EXPECT_TRUE(tracing_->End(clock_.Now() + std::chrono::seconds(1)));
  EXPECT_EQ(storage_.files().count("log.0"), 1U);
  EXPECT_EQ(tracing_->Sample("m"), nullptr);
}

TEST_F(TracingTest, AChangeOfSettingsWritesWhatWasCollected) {
  TraceOptions options = Options();
  options.settings.log_frequency = 100;
  Start(options);
  EXPECT_EQ(Sampled("m", 3), 3);
  ASSERT_TRUE(Update("", [](TraceUpdate* u) { u->log_frequency = 50; }).ok());
  while (storage_.files().count("log.0") == 0) std::this_thread::yield();
  EXPECT_EQ(storage_.files().size(), 1U);
}

}  // namespace
}  // namespace nereid
