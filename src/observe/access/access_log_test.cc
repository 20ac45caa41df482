// SPDX-License-Identifier: Apache-2.0
#include "observe/access/access_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class AccessLogTest : public ::testing::Test {
 protected:
  AccessLogTest() : file_(::testing::TempDir() + "access." + std::to_string(getpid())) {}
  ~AccessLogTest() override {
    unlink(file_.c_str());
    unlink((file_ + ".1").c_str());
  }

  std::unique_ptr<AccessLog> Open(uint64_t sample = 1, size_t queue_limit = 100) {
    auto log = AccessLog::Open({file_, sample, queue_limit}, &clock_);
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
  AccessEntry Entry(const std::string& id = "7") {
    AccessEntry entry;
    entry.protocol = "HTTP/1.1";
    entry.peer = "127.0.0.1:4000";
    entry.method = "POST";
    entry.path = "/v2/models/m/infer";
    entry.status = "200";
    entry.model = "m";
    entry.request_id = id;
    entry.bytes_in = 12;
    entry.bytes_out = 34;
    entry.start = clock_.Now();
    return entry;
  }
  static std::vector<std::string> Lines(const std::string& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  const std::string file_;
  FakeClock clock_;
};

TEST_F(AccessLogTest, ALineIsAJsonObject) {
  auto log = Open();
  AccessEntry entry = Entry("a \"b\"\n");
  clock_.Advance(std::chrono::microseconds(1500));
  log->Write(std::move(entry));
  log.reset();
  ASSERT_THAT(Lines(file_), SizeIs(1));
  EXPECT_THAT(
      Lines(file_)[0],
      MatchesRegex("\\{\"time\":\"[-0-9]+T[:0-9]+\\.[0-9][0-9][0-9]Z\","
                   "\"peer\":\"127\\.0\\.0\\.1:4000\",\"protocol\":\"HTTP/1\\.1\","
                   "\"method\":\"POST\",\"path\":\"/v2/models/m/infer\",\"status\":\"200\","
                   "\"model\":\"m\",\"request_id\":\"a \\\\\"b\\\\\"\\\\n\",\"bytes_in\":12,"
                   "\"bytes_out\":34,\"duration_us\":1500\\}"));
}

TEST_F(AccessLogTest, TextsAreCut) {
  auto log = Open();
  AccessEntry entry = Entry();
  entry.path = std::string(1 << 20, 'x');
  log->Write(std::move(entry));
  log.reset();
  EXPECT_LT(Lines(file_)[0].size(), 1400u);
}

TEST_F(AccessLogTest, EverySoManyRequestsOneIsTaken) {
  const auto log = Open(/*sample=*/3);
  std::string taken;
  for (int i = 0; i < 7; ++i) taken += log->Takes() ? 'x' : '.';
  EXPECT_EQ(taken, "x..x..x");
}

TEST_F(AccessLogTest, AppendsAndIsOpenedAgain) {
  std::ofstream(file_) << "before\n";
  auto log = Open();
  log->Write(Entry("first"));
  log.reset();
  log = Open();
  ASSERT_EQ(rename(file_.c_str(), (file_ + ".1").c_str()), 0);
  log->Reopen();
  // The thread opens the file soon.
  while (access(file_.c_str(), F_OK) != 0) std::this_thread::yield();
  log->Write(Entry("second"));
  log.reset();
  EXPECT_THAT(Lines(file_ + ".1"), SizeIs(2));
  ASSERT_THAT(Lines(file_), SizeIs(1));
  EXPECT_THAT(Lines(file_)[0], HasSubstr("second"));
}

TEST_F(AccessLogTest, WhatFindsNoPlaceIsDroppedAndCounted) {
  // A pipe that nobody reads: its writer hangs after the pipe is full.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto opened =
      AccessLog::Open({"/proc/self/fd/" + std::to_string(ends[1]), 1, /*queue_limit=*/10}, &clock_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  AccessEntry large = Entry();
  large.path = std::string(1000, 'x');
  uint64_t written = 0;
  while ((*opened)->dropped() == 0) {
    (*opened)->Write(large);
    ++written;
  }
  EXPECT_GT(written, 10u);
  close(ends[1]);
  // Lets the thread go on, to its end.
  std::thread reader([&] {
    char buffer[4096];
    while (read(ends[0], buffer, sizeof(buffer)) > 0) {
    }
  });
  opened->reset();
  reader.join();
  close(ends[0]);
}

TEST_F(AccessLogTest, AFileThatCannotBeOpened) {
  const auto log = AccessLog::Open({"/nonexistent-folder/access", 1, 10}, &clock_);
  EXPECT_EQ(log.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(log.status().message()), HasSubstr("/nonexistent-folder/access"));
}

}  // namespace
}  // namespace nereid
