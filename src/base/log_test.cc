// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/crash_context.h"

namespace nereid {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override {
    EXPECT_TRUE(Log::Configure(LogSettings()).ok());
    if (!file_.empty()) unlink(file_.c_str());
  }

  void Configure(const LogSettings& settings) { ASSERT_TRUE(Log::Configure(settings).ok()); }

  const std::string& File() {
    if (file_.empty()) {
      file_ = ::testing::TempDir() + "nereid_log_test." + std::to_string(getpid());
    }
    return file_;
  }
  std::string FileText() {
    std::ifstream in(File());
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  // What `write` puts on the standard output and the standard error.
  template <typename Write>
  static std::pair<std::string, std::string> Captured(const Write& write) {
    CaptureStdout();
    CaptureStderr();
    write();
    std::string out = GetCapturedStdout();
    return {std::move(out), GetCapturedStderr()};
  }

 private:
  std::string file_;
};

// ---- Where lines go

TEST_F(LogTest, InfoGoesToStandardOutputTheRestToStandardError) {
  Configure(LogSettings());
  const auto [out, err] = Captured([] {
    LOG_INFO << "an info";
    LOG_WARNING << "a warning";
    LOG_ERROR << "an error";
  });
  EXPECT_THAT(out, HasSubstr("an info"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
  EXPECT_THAT(err, HasSubstr("a warning"));
  EXPECT_THAT(err, HasSubstr("an error"));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 2);
}

TEST_F(LogTest, WithAFileNothingGoesToTheConsole) {
  LogSettings settings;
  settings.file = File();
  Configure(settings);
  const auto [out, err] = Captured([] {
    LOG_INFO << "an info";
    LOG_ERROR << "an error";
    Log::WriteBlock("a table\n");
  });
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "");
  EXPECT_THAT(FileText(), HasSubstr("an info"));
  EXPECT_THAT(FileText(), HasSubstr("an error"));
  EXPECT_THAT(FileText(), HasSubstr("a table\n"));
}

TEST_F(LogTest, AFileIsAppendedTo) {
  std::ofstream(File()) << "what was there\n";
  LogSettings settings;
  settings.file = File();
  Configure(settings);
  LOG_INFO << "more";
  EXPECT_THAT(FileText(), MatchesRegex("what was there\nI.*\"more\"\n"));
}

TEST_F(LogTest, AFileThatCannotBeOpenedChangesNothing) {
  LogSettings settings;
  settings.file = "/nonexistent-folder/log";
  settings.verbose_level = 3;
  const absl::Status status = Log::Configure(settings);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent-folder/log"));
  EXPECT_EQ(Log::Settings().file, "");
  EXPECT_FALSE(Log::IsVerboseEnabled(1));
}

TEST_F(LogTest, TheConsoleComesBackWhenTheFileIsTakenAway) {
  LogSettings settings;
  settings.file = File();
  Configure(settings);
  Configure(LogSettings());
  EXPECT_THAT(Captured([] { LOG_INFO << "here"; }).first, HasSubstr("here"));
}

TEST_F(LogTest, AFileIsOpenedAgainUnderItsName) {
  EXPECT_TRUE(Log::Reopen().ok()) << "without a file there is nothing to do";
  LogSettings settings;
  settings.file = File();
  Configure(settings);
  LOG_INFO << "old";
  const std::string renamed = File() + ".1";
  ASSERT_EQ(rename(File().c_str(), renamed.c_str()), 0);
  ASSERT_TRUE(Log::Reopen().ok());
  LOG_INFO << "new";
  unlink(renamed.c_str());
  EXPECT_THAT(FileText(), MatchesRegex("I.*\"new\"\n"));
}

TEST_F(LogTest, AChangeKeepsTheOtherSettings) {
  LogSettings settings;
  settings.verbose_level = 2;
  Configure(settings);
  ASSERT_TRUE(Log::Change([](LogSettings* changed) { changed->info = false; }).ok());
  EXPECT_FALSE(Log::IsEnabled(LogLevel::kInfo));
  EXPECT_TRUE(Log::IsVerboseEnabled(2));
}

// ---- What is written

TEST_F(LogTest, LevelsAreSwitchedOneByOne) {
  LogSettings settings;
  settings.info = false;
  settings.error = false;
  Configure(settings);
  EXPECT_FALSE(Log::IsEnabled(LogLevel::kInfo));
  EXPECT_TRUE(Log::IsEnabled(LogLevel::kWarning));
  EXPECT_FALSE(Log::IsEnabled(LogLevel::kError));
  const auto [out, err] = Captured([] {
    LOG_INFO << "an info";
    LOG_WARNING << "a warning";
    LOG_ERROR << "an error";
    Log::WriteBlock("a table\n");
  });
  EXPECT_EQ(out, "");
  EXPECT_THAT(err, MatchesRegex("W.*\"a warning\"\n"));
}

TEST_F(LogTest, VerboseLinesNeedTheirLevel) {
  LogSettings settings;
  settings.verbose_level = 1;
  Configure(settings);
  EXPECT_TRUE(Log::IsEnabled(LogLevel::kVerbose));
  const auto [out, err] = Captured([] {
    LOG_VERBOSE(1) << "one";
    LOG_VERBOSE(2) << "two";
  });
  EXPECT_THAT(out, MatchesRegex("I.*\"one\"\n"));
  EXPECT_EQ(err, "");
}

TEST_F(LogTest, WhatIsNotWrittenIsNotMade) {
  LogSettings settings;
  settings.info = false;
  Configure(settings);
  int made = 0;
  const auto make = [&made] { return ++made; };
  LOG_INFO << make();
  EXPECT_EQ(made, 0);
}

TEST_F(LogTest, ABlockIsWrittenAsItIs) {
  EXPECT_EQ(Captured([] { Log::WriteBlock("| a |\n| b |\n"); }).first, "| a |\n| b |\n");
}

TEST_F(LogTest, SettingsAreThoseConfigured) {
  LogSettings settings;
  settings.warning = false;
  settings.verbose_level = 4;
  settings.format = LogFormat::kIso8601;
  Configure(settings);
  EXPECT_FALSE(Log::Settings().warning);
  EXPECT_EQ(Log::Settings().verbose_level, 4);
  EXPECT_EQ(Log::Settings().format, LogFormat::kIso8601);
}

// ---- Formats

TEST_F(LogTest, TheDefaultFormat) {
  const std::string line =
      Captured([] { Log::Write(LogLevel::kInfo, "some/folder/file.cc", 12, "text"); }).first;
  EXPECT_THAT(line, MatchesRegex("I[0-1][0-9][0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9]"
                                 "\\.[0-9][0-9][0-9][0-9][0-9][0-9] [0-9]+ file\\.cc:12\\] "
                                 "\"text\"\n"));
  EXPECT_THAT(line, HasSubstr(" " + std::to_string(getpid()) + " "));
}

TEST_F(LogTest, TheIso8601Format) {
  LogSettings settings;
  settings.format = LogFormat::kIso8601;
  Configure(settings);
  const std::string line =
      Captured([] { Log::Write(LogLevel::kError, "file.cc", 7, "text"); }).second;
  EXPECT_THAT(line, MatchesRegex("[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:"
                                 "[0-6][0-9]Z E [0-9]+ file\\.cc:7\\] \"text\"\n"));
}

TEST_F(LogTest, LinesOfTextBeginWithTheRequest) {
  const auto [out, err] = Captured([] {
    LOG_INFO << LogAbout{"7", "m", ""} << "it " << 5;
    LOG_INFO << LogAbout{} << "it";
    LOG_INFO << LogAbout{"7", "m", ""} << "[request id: 7] says so itself";
  });
  EXPECT_THAT(out, HasSubstr("] \"[request id: 7] it 5\"\n"));
  EXPECT_THAT(out, HasSubstr("] \"[request id: <id_unknown>] it\"\n"));
  EXPECT_THAT(out, HasSubstr("] \"[request id: 7] says so itself\"\n"));
}

TEST_F(LogTest, TheJsonFormatHasOneObjectPerLine) {
  LogSettings settings;
  settings.format = LogFormat::kJson;
  settings.escape_messages = false;  // is for text only
  Configure(settings);
  const auto [out, err] = Captured([] {
    Log::Write(LogLevel::kInfo, "folder/file.cc", 12, "two\nlines");
    Log::WriteBlock("| a |\n");
    const LogAbout about{"id \"1\"", "m", "0af7"};
    Log::Write(LogLevel::kError, "file.cc", 3, "wrong", &about);
  });
  const std::string time = "\\{\"time\":\"[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z\",";
  EXPECT_THAT(out, MatchesRegex(time +
                                "\"level\":\"INFO\",\"file\":\"file\\.cc\",\"line\":12,"
                                "\"message\":\"two\\\\nlines\"\\}\n" +
                                time +
                                "\"level\":\"INFO\",\"line\":0,\"message\":"
                                "\"\\| a \\|\\\\n\"\\}\n"));
  EXPECT_THAT(err, HasSubstr(R"("level":"ERROR","file":"file.cc","line":3,"message":"wrong",)"
                             R"("request_id":"id \"1\"","model":"m","trace_id":"0af7"})"));
}

TEST_F(LogTest, JsonLinesNameTheModelWhoseCodeRuns) {
  LogSettings settings;
  settings.format = LogFormat::kJson;
  Configure(settings);
  const std::string line = Captured([] {
                             const CrashContext context("backend", "b", "net", "Execute");
                             LOG_INFO << "from a backend";
                           }).first;
  EXPECT_THAT(line, HasSubstr(R"("message":"from a backend","model":"net"})"));
}

TEST_F(LogTest, FormatsHaveNames) {
  EXPECT_EQ(LogFormatName(LogFormat::kDefault), "default");
  EXPECT_EQ(LogFormatName(LogFormat::kIso8601), "ISO8601");
  EXPECT_EQ(LogFormatName(LogFormat::kJson), "json");
}

// ---- Injection

TEST_F(LogTest, AMessageCannotForgeALine) {
  const std::string evil = "harmless\nE1121 00:00:00.000000 1 x.cc:1] \"INJECTED\"\r\x1b[2J";
  const std::string text = Captured([&] { Log::Write(LogLevel::kInfo, "file.cc", 1, evil); }).first;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text,
              HasSubstr(R"("harmless\nE1121 00:00:00.000000 1 x.cc:1] \"INJECTED\"\r\u001b[2J")"
                        "\n"));
}

TEST_F(LogTest, EscapingMayBeSwitchedOff) {
  LogSettings settings;
  settings.escape_messages = false;
  Configure(settings);
  const std::string text =
      Captured([] { Log::Write(LogLevel::kInfo, "file.cc", 1, "two\nlines"); }).first;
  EXPECT_THAT(text, HasSubstr("file.cc:1] two\nlines\n"));
}

// ---- Readers that do not read, and who writes

// The standard output and error are a pipe that nobody reads while this exists.
class UnreadPipe {
 public:
  UnreadPipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    read_ = ends[0];
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      saved_.push_back(dup(fd));
      EXPECT_EQ(dup2(ends[1], fd), fd);
    }
    close(ends[1]);
  }
  ~UnreadPipe() {
    Restore();
    close(read_);
  }
  void Restore() {
    for (size_t i = 0; i < saved_.size(); ++i) {
      dup2(saved_[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
      close(saved_[i]);
    }
    saved_.clear();
  }
  // All there is, once nobody writes any more.
  std::string Read() {
    Restore();
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(read_, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }

 private:
  int read_;
  std::vector<int> saved_;
};

size_t Threads() {
  namespace fs = std::filesystem;
  return static_cast<size_t>(
      std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

TEST_F(LogTest, NobodyWaitsForAReaderWhileAThreadWrites) {
  const uint64_t before = Log::dropped();
  UnreadPipe pipe;
  {
    const BackgroundLog background;
    const std::string text(1 << 20, 'x');
    while (Log::dropped() == before) LOG_INFO << text;
    LOG_ERROR << "that, too";
    Log::Flush();
  }
  EXPECT_GT(Log::dropped(), before + 1) << "what waited at the end is counted";
}

TEST_F(LogTest, WhoWritesWaitsForAReaderOnce) {
  const uint64_t before = Log::dropped();
  UnreadPipe pipe;
  const std::string text(1 << 10, 'x');
  while (Log::dropped() == before) LOG_INFO << text;
  for (int i = 0; i < 100; ++i) LOG_INFO << text;  // would take 100 seconds
  EXPECT_EQ(Log::dropped(), before + 101);
}

TEST_F(LogTest, AThreadWritesWhileSomebodyAsksForIt) {
  const size_t before = Threads();
  const auto [out, err] = Captured([&] {
    auto first = std::make_unique<BackgroundLog>();
    const auto second = std::make_unique<BackgroundLog>();
    EXPECT_GT(Threads(), before);
    first.reset();
    EXPECT_GT(Threads(), before);
    for (int i = 0; i < 50; ++i) LOG_INFO << "line " << i;
    LOG_ERROR << "an error";
  });
  EXPECT_EQ(Threads(), before);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 50);
  EXPECT_LT(out.find("\"line 9\""), out.find("\"line 10\""));
  EXPECT_THAT(err, HasSubstr("an error"));
}

TEST_F(LogTest, BothStreamsKeepTheirOrderInOnePipe) {
  UnreadPipe pipe;
  {
    const BackgroundLog background;
    for (int i = 0; i < 20; ++i) {
      LOG_INFO << "an info " << i;
      LOG_ERROR << "an error " << i;
    }
  }
  const std::string text = pipe.Read();
  size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = text.find("an info " + std::to_string(i), at);
    ASSERT_NE(at, std::string::npos) << text;
    at = text.find("an error " + std::to_string(i), at);
    ASSERT_NE(at, std::string::npos) << text;
  }
}

TEST_F(LogTest, AThreadFollowsTheSettings) {
  const auto [out, err] = Captured([&] {
    const BackgroundLog background;
    LOG_INFO << "to the console";
    LogSettings settings;
    settings.file = File();
    Configure(settings);
    LOG_INFO << "to the file";
    const std::string renamed = File() + ".1";
    ASSERT_EQ(rename(File().c_str(), renamed.c_str()), 0);
    ASSERT_TRUE(Log::Reopen().ok());
    LOG_INFO << "to the new file";
    Log::Flush();
    EXPECT_THAT(FileText(), MatchesRegex("I.*\"to the new file\"\n"));
    std::ostringstream old;
    old << std::ifstream(renamed).rdbuf();
    unlink(renamed.c_str());
    EXPECT_THAT(old.str(), MatchesRegex("I.*\"to the file\"\n"));
    Configure(LogSettings());
    LOG_INFO << "to the console again";
  });
  EXPECT_THAT(out, MatchesRegex("I.*\"to the console\"\nI.*\"to the console again\"\n"));
}

TEST_F(LogTest, ALineSaysHowManyAreMissing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string read;
  std::thread reader;
  {
    LogSettings settings;
    settings.file = "/proc/self/fd/" + std::to_string(ends[1]);
    settings.format = LogFormat::kJson;
    Configure(settings);
    close(ends[1]);
    const BackgroundLog background;
    const uint64_t before = Log::dropped();
    const std::string text(1 << 20, 'x');
    while (Log::dropped() == before) LOG_INFO << text;
    reader = std::thread([&] {
      char buffer[1 << 16];
      for (ssize_t n; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
        read.append(buffer, static_cast<size_t>(n));
      }
    });
  }
  Configure(LogSettings());
  reader.join();
  close(ends[0]);
  EXPECT_THAT(read, HasSubstr(R"("message":"1 line is missing here: the log came faster than)"));
}

TEST_F(LogTest, AForkedChildWritesByItself) {
  if (kThreadSanitizer)
    GTEST_SKIP() << "it allows no thread in the child of a program with threads";
  UnreadPipe pipe;
  {
    const BackgroundLog background;
    LOG_INFO << "of the parent";
    const pid_t child = fork();
    if (child == 0) {
      LOG_INFO << "of the child";
      {
        const BackgroundLog own;
        LOG_INFO << "of its own thread";
      }
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const std::string text = pipe.Read();
  EXPECT_THAT(text, HasSubstr("of the parent"));
  EXPECT_THAT(text, HasSubstr("of the child"));
  EXPECT_THAT(text, HasSubstr("of its own thread"));
  EXPECT_EQ(text.find("of the parent"), text.rfind("of the parent"));
}

// ---- Lines that may come often

TEST(LogRateTest, ABurstThenOneEachPeriod) {
  LogRate rate;
  TimePoint now = FromNanos(1'000'000'000'000);
  uint64_t suppressed = 0;
  for (int i = 0; i < LogRate::kBurst; ++i) EXPECT_TRUE(rate.Take(now, &suppressed)) << i;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(rate.Take(now, &suppressed));
  now += LogRate::kPeriod;
  EXPECT_TRUE(rate.Take(now, &suppressed));
  EXPECT_EQ(suppressed, 5u);
  EXPECT_FALSE(rate.Take(now, &suppressed));
  now += 100 * LogRate::kPeriod;
  for (int i = 0; i < LogRate::kBurst; ++i) EXPECT_TRUE(rate.Take(now, &suppressed)) << i;
  EXPECT_EQ(suppressed, 0u) << "they were told with the first";
  EXPECT_FALSE(rate.Take(now, &suppressed));
}

TEST(LogRateTest, ARateOfItsOwn) {
  LogRate rate(3, std::chrono::milliseconds(1));
  TimePoint now = FromNanos(1'000'000'000'000);
  uint64_t suppressed = 0;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rate.Take(now, &suppressed)) << i;
  EXPECT_FALSE(rate.Take(now, &suppressed));
  now += std::chrono::milliseconds(1);
  EXPECT_TRUE(rate.Take(now, &suppressed));
  EXPECT_FALSE(rate.Take(now, &suppressed));
}

TEST_F(LogTest, LinesAboutRequestsAreBounded) {
  LogSettings settings;
  settings.verbose_level = 1;
  const auto log = [] {
    for (int i = 0; i < 100'000; ++i) LOG_VERBOSE_REQUEST << "asked";
  };
  EXPECT_EQ(Captured(log).first, "") << "verbose is off";
  Configure(settings);
  const std::string out = Captured(log).first;
  EXPECT_GE(std::count(out.begin(), out.end(), '\n'), 1000);
  EXPECT_LT(std::count(out.begin(), out.end(), '\n'), 50'000);
}

TEST_F(LogTest, APlaceThatLogsSeldomTellsWhatItLeftOut) {
  const auto [out, err] = Captured([] {
    log_internal::Line(LogLevel::kWarning, "file.cc", 3, 17).stream() << "it happened";
    for (int i = 0; i < 100'000; ++i) LOG_ERROR_SELDOM << "often";
    if (Log::IsVerboseEnabled(9))
      LOG_WARNING_SELDOM << "no";
    else
      LOG_WARNING_SELDOM << "another place";
  });
  EXPECT_THAT(err, HasSubstr("\"it happened (17 similar lines were suppressed)\""));
  EXPECT_GE(std::count(err.begin(), err.end(), '\n'), 2 + LogRate::kBurst);
  EXPECT_LT(std::count(err.begin(), err.end(), '\n'), 1000);
  EXPECT_THAT(err, HasSubstr("another place"));
}

// ---- Threads

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  LogSettings settings;
  settings.file = File();
  Configure(settings);
  constexpr int kThreads = 4, kLines = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < kLines; ++i) LOG_INFO << std::string(100, 'x');
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(FileText());
  int count = 0;
  const std::string tail = "] \"" + std::string(100, 'x') + "\"";
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_EQ(line[0], 'I');
    ASSERT_EQ(line.substr(line.size() - tail.size()), tail);
  }
  EXPECT_EQ(count, kThreads * kLines);
}

}  // namespace
}  // namespace nereid
