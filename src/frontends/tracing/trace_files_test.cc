// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "frontends/tracing/testing/fake_trace_storage.h"
#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class TraceFilesTest : public ::testing::Test {
 protected:
  static std::shared_ptr<TraceSampler> Sampler(uint32_t log_frequency, int64_t count = -1) {
    TraceSettings settings;
    settings.level = kTraceTimestamps;
    settings.rate = 1;
    settings.count = count;
    settings.log_frequency = log_frequency;
    return std::make_shared<TraceSampler>(settings);
  }
  // A trace that `sampler` has chosen, with one event of which `id` is left in the text.
  std::unique_ptr<FinishedTrace> Trace(const std::shared_ptr<TraceSampler>& sampler, uint64_t id) {
    EXPECT_TRUE(sampler->Sample(false));
    auto trace = std::make_unique<FinishedTrace>();
    trace->root_id = id;
    trace->sampler = sampler;
    trace->events.push_back(TracedTime{id, "E", 1});
    return trace;
  }
  void Add(const std::shared_ptr<TraceSampler>& sampler, uint64_t id) {
    files_.Add(Trace(sampler, id));
  }
  static std::string Text(uint64_t id) {
    return "{\"id\":" + std::to_string(id) + ",\"timestamps\":[{\"name\":\"E\",\"ns\":1}]}";
  }

  FakeTraceStorage storage_;
  TraceFiles files_{"log", storage_.Open()};
};

TEST_F(TraceFilesTest, OneFileIsAnArrayAtAnyTime) {
  const auto sampler = Sampler(0);
  Add(sampler, 1);
  EXPECT_THAT(storage_.files(), IsEmpty());
  files_.OnIdle();
  EXPECT_THAT(storage_.files(), ElementsAre(Pair("log", "[" + Text(1) + "]")));
  Add(sampler, 2);
  Add(sampler, 3);
  files_.OnIdle();
  files_.OnIdle();
  EXPECT_THAT(storage_.files(),
              ElementsAre(Pair("log", "[" + Text(1) + "," + Text(2) + "," + Text(3) + "]")));
}

TEST_F(TraceFilesTest, AFrequencyMakesNumberedFiles) {
  const auto sampler = Sampler(2);
  for (uint64_t id = 1; id <= 5; ++id) Add(sampler, id);
  files_.OnIdle();
  EXPECT_THAT(storage_.files(), ElementsAre(Pair("log.0", "[" + Text(1) + "," + Text(2) + "]"),
                                            Pair("log.1", "[" + Text(3) + "," + Text(4) + "]")));
  files_.Finish();
  EXPECT_EQ(storage_.files()["log.2"], "[" + Text(5) + "]");
}

TEST_F(TraceFilesTest, ACountThatIsUsedUpMakesAFile) {
  const auto sampler = Sampler(0, 2);
  std::unique_ptr<FinishedTrace> first = Trace(sampler, 1);
  std::unique_ptr<FinishedTrace> second = Trace(sampler, 2);
  files_.Add(std::move(second));
  files_.OnIdle();
  EXPECT_THAT(storage_.files(), IsEmpty()) << "one is still under way";
  files_.Add(std::move(first));
  EXPECT_THAT(storage_.files(), ElementsAre(Pair("log.0", "[" + Text(2) + "," + Text(1) + "]")));
}

TEST_F(TraceFilesTest, WhatACountLeavesIsWrittenAtTheEnd) {
  const auto sampler = Sampler(0, 9);
  Add(sampler, 1);
  files_.OnIdle();
  EXPECT_THAT(storage_.files(), IsEmpty());
  files_.Finish();
  EXPECT_THAT(storage_.files(), ElementsAre(Pair("log", "[" + Text(1) + "]")));
}

TEST_F(TraceFilesTest, OtherSettingsWriteWhatTheFormerLeft) {
  const auto former = Sampler(3);
  Add(former, 1);
  std::unique_ptr<FinishedTrace> late = Trace(former, 2);
  files_.Retire(former);
  EXPECT_THAT(storage_.files(), ElementsAre(Pair("log.0", "[" + Text(1) + "]")));
  const auto next = Sampler(1);
  Add(next, 3);
  files_.Add(std::move(late));
  EXPECT_EQ(storage_.files()["log.1"], "[" + Text(3) + "]");
  EXPECT_EQ(storage_.files()["log.2"], "[" + Text(2) + "]");
}

TEST_F(TraceFilesTest, AFailureLosesTracesAndNothingElse) {
  const auto sampler = Sampler(0);
  Add(sampler, 1);
  storage_.Fail(true);
  files_.OnIdle();
  storage_.Fail(false);
  Add(sampler, 2);
  files_.OnIdle();
  EXPECT_THAT(storage_.files(), ElementsAre(Pair("log", "[" + Text(2) + "]")));
  EXPECT_EQ(files_.TakeLost(), 1U);
  EXPECT_EQ(files_.TakeLost(), 0U);
}

TEST(LocalTraceStorageTest, WritesAndRewrites) {
  std::string folder = ::testing::TempDir() + "/tracesXXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/log";
  const auto storage = MakeLocalTraceStorage();
  ASSERT_TRUE(storage->Write(path, "[1]").ok());
  ASSERT_TRUE(storage->Rewrite(path, 2, ",2]").ok());
  std::stringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), "[1,2]");
  // Nothing replaces what is no file.
  const std::string link = folder + "/link";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(storage->Write(link, "[3]").ok());
  std::stringstream behind;
  behind << std::ifstream(path).rdbuf();
  EXPECT_EQ(behind.str(), "[3]");
  EXPECT_THAT(std::string(storage->Write(folder + "/no/file", "x").message()),
              ::testing::HasSubstr("/no/file"));
}

}  // namespace
}  // namespace nereid
