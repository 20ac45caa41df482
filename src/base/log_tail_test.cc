// SPDX-License-Identifier: Apache-2.0
#include "base/log_tail.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/log.h"

namespace nereid {
namespace {

LogLine Line(const std::string& message) {
  LogLine line;
  line.level = "INFO";
  line.message = message;
  return line;
}

std::string Texts(const LogTail::Lines& read) {
  std::string texts;
  for (const LogLine& line : read.lines) {
    texts += std::to_string(line.number) + line.message + " ";
  }
  return texts;
}

TEST(LogTailTest, TheLastLinesOrThoseAfterANumber) {
  LogTail tail;
  EXPECT_EQ(Texts(tail.Read(std::nullopt, 10)), "");
  for (const char* const text : {"a", "b", "c"}) tail.Add(Line(text));
  EXPECT_EQ(Texts(tail.Read(std::nullopt, 2)), "2b 3c ");
  EXPECT_EQ(Texts(tail.Read(std::nullopt, 10)), "1a 2b 3c ");
  EXPECT_EQ(Texts(tail.Read(0, 2)), "1a 2b ");
  EXPECT_EQ(Texts(tail.Read(2, 2)), "3c ");
  EXPECT_EQ(Texts(tail.Read(3, 2)), "");
  EXPECT_EQ(Texts(tail.Read(UINT64_MAX, 2)), "");
  EXPECT_EQ(tail.Read(0, 2).dropped, 0u);
  EXPECT_EQ(tail.Read(UINT64_MAX, 2).dropped, 0u);
}

TEST(LogTailTest, TheNumberOfLinesIsBounded) {
  LogTail tail;
  for (size_t i = 0; i < LogTail::kMostLines + 5; ++i) tail.Add(Line("x"));
  const LogTail::Lines read = tail.Read(2, 1);
  EXPECT_EQ(Texts(read), "6x ");
  EXPECT_EQ(read.dropped, 3u);
  EXPECT_EQ(tail.Read(0, SIZE_MAX).lines.size(), LogTail::kMostLines);
}

TEST(LogTailTest, TheBytesAreBounded) {
  LogTail tail;
  const std::string long_text(LogTail::kMostMessage + 1, 'x');
  for (int i = 0; i < 100; ++i) tail.Add(Line(long_text));
  const LogTail::Lines read = tail.Read(0, SIZE_MAX);
  ASSERT_FALSE(read.lines.empty());
  EXPECT_LE(read.lines.size(), LogTail::kMostBytes / LogTail::kMostMessage);
  EXPECT_EQ(read.lines.size() + read.dropped, 100u);
  EXPECT_EQ(read.lines[0].message, long_text.substr(1) + "...");
}

TEST(LogTailTest, ManyWritersAndAReader) {
  constexpr int kWriters = 4;
  constexpr int kEach = 2000;
  LogTail tail;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&tail] {
      for (int i = 0; i < kEach; ++i) tail.Add(Line("line"));
    });
  }
  uint64_t seen = 0;
  uint64_t counted = 0;
  while (seen < kWriters * kEach) {
    const LogTail::Lines read = tail.Read(seen, 100);
    counted += read.dropped;
    seen += read.dropped;
    for (const LogLine& line : read.lines) {
      ASSERT_EQ(line.number, seen + 1);
      seen = line.number;
      ++counted;
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(counted, static_cast<uint64_t>(kWriters * kEach));
}

// What the process logs is in its tail.
TEST(LogTailTest, OfTheProcess) {
  const auto last_number = [] {
    const LogTail::Lines last = LogTail::Global()->Read(std::nullopt, 1);
    return last.lines.empty() ? 0 : last.lines[0].number;
  };
  const uint64_t before = last_number();
  LOG_ERROR << LogAbout{"r1", "m", ""} << "it \"fails\"";
  LOG_VERBOSE(1) << "not written, so not kept";
  Log::WriteBlock("a\nb\n");
  const LogTail::Lines read = LogTail::Global()->Read(before, 10);
  ASSERT_EQ(read.lines.size(), 2u);
  EXPECT_STREQ(read.lines[0].level, "ERROR");
  EXPECT_EQ(read.lines[0].message, "it \"fails\"");
  EXPECT_EQ(read.lines[0].request_id, "r1");
  EXPECT_EQ(read.lines[0].model, "m");
  EXPECT_EQ(read.lines[0].place.rfind("log_tail_test.cc:", 0), 0u);
  EXPECT_GT(read.lines[0].unix_us, 0u);
  EXPECT_STREQ(read.lines[1].level, "INFO");
  EXPECT_EQ(read.lines[1].message, "a\nb\n");
  EXPECT_EQ(read.lines[1].place, "");
}

}  // namespace
}  // namespace nereid
