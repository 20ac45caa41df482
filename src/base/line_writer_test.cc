// SPDX-License-Identifier: Apache-2.0
#include "base/line_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

bool Never() { return false; }

// Two ends, of which nobody reads the first one unless the test does.
struct Ends {
  ~Ends() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  int read = -1;
  int write = -1;
};

void MakePipe(Ends* ends) {
  int both[2];
  ASSERT_EQ(pipe(both), 0);
  ends->read = both[0];
  ends->write = both[1];
}
void MakeSockets(Ends* ends) {
  int both[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
  ends->read = both[0];
  ends->write = both[1];
}
void MakeTerminal(Ends* ends) {
  ASSERT_EQ(openpty(&ends->read, &ends->write, nullptr, nullptr, nullptr), 0);
}

// What there is to be read at present.
std::string ReadSome(int fd) {
  std::string text;
  char buffer[4096];
  pollfd ready = {fd, POLLIN, 0};
  while (poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

// ---- Output

struct UnreadCase {
  const char* name;
  void (*make)(Ends*);
};
class UnreadOutputTest : public ::testing::TestWithParam<UnreadCase> {};

TEST_P(UnreadOutputTest, IsNotWaitedForInsideTheKernel) {
  Ends ends;
  GetParam().make(&ends);
  Output output = Output::Borrow(ends.write);
  const std::string line = std::string(99, 'x') + "\n";
  int asked = 0;
  int written = 0;
  // A terminal's driver moves what it has got out of the way a little later.
  while (output.Write(line, [&asked] { return ++asked < 3; })) {
    asked = 0;
    ASSERT_LT(++written, 100'000);
  }
  EXPECT_GT(written, 10);
  EXPECT_EQ(asked, 3);
  // It goes on when somebody reads.
  std::string read = ReadSome(ends.read);
  EXPECT_TRUE(output.Write("the end\n", [&] {
    read += ReadSome(ends.read);
    return true;
  }));
  EXPECT_THAT(read + ReadSome(ends.read), HasSubstr("the end"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnreadOutputTest,
                         ::testing::Values(UnreadCase{"Pipe", &MakePipe},
                                           UnreadCase{"Socket", &MakeSockets},
                                           UnreadCase{"Terminal", &MakeTerminal}),
                         [](const auto& test) { return test.param.name; });

TEST(OutputTest, LooksAgainWhatABorrowedDescriptorIs) {
  Ends terminal;
  MakeTerminal(&terminal);
  Output output = Output::Borrow(terminal.write);
  ASSERT_TRUE(output.Write("to the terminal", &Never));
  Ends pipe;
  MakePipe(&pipe);
  ASSERT_EQ(dup2(pipe.write, terminal.write), terminal.write);
  ASSERT_TRUE(output.Write("to the pipe", &Never));
  EXPECT_EQ(ReadSome(pipe.read), "to the pipe");
}

TEST(OutputTest, ANamedPipeWithoutReaderIsOpenedAtOnce) {
  const std::string name = ::testing::TempDir() + "line_writer_fifo." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  Output output = Output::Append(name);
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(output.Write("early", &Never));
  const int reader = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(ReadSome(reader), "early");
  close(reader);
  unlink(name.c_str());
}

TEST(OutputTest, SameFiles) {
  Ends one, another;
  MakePipe(&one);
  MakePipe(&another);
  EXPECT_TRUE(Output::Borrow(one.write).IsSameFile(Output::Duplicate(one.write)));
  EXPECT_FALSE(Output::Borrow(one.write).IsSameFile(Output::Borrow(another.write)));
}

TEST(OutputTest, AnErrorIsNotWaitedFor) {
  Output output = Output::Borrow(-1);
  EXPECT_FALSE(output.Write("text", [] { return true; }));
}

// ---- LineWriter

class LineWriterTest : public ::testing::Test {
 protected:
  LineWriterTest() { MakePipe(&pipe_); }

  using Writer = LineWriter<std::string>;
  // Each line costs one.
  std::unique_ptr<Writer> Make(size_t most = 10) {
    Writer::Options options;
    options.last_words = std::chrono::milliseconds(100);
    options.thread_name = "test";
    options.most = most;
    options.format = [](const std::string& item, std::string* text) { text->append(item); };
    options.missing = [](uint64_t lines) { return std::to_string(lines) + " are missing"; };
    return std::make_unique<Writer>(std::move(options), Output::Borrow(pipe_.write), &counts_);
  }
  // Nothing can be written until somebody reads.
  void FillPipe() {
    Output output = Output::Borrow(pipe_.write);
    while (output.Write(std::string(PIPE_BUF, '.'), &Never)) continue;
  }
  // Adds lines until one is dropped. Returns how many were added before.
  int Fill(Writer* writer, bool urgent) {
    for (int added = 0;; ++added) {
      writer->Add("line", 1, urgent);
      if (counts_.dropped.load() > 0) return added;
    }
  }

  Ends pipe_;
  LineCounts counts_;
};

TEST_F(LineWriterTest, WritesInOrderUntilItsEnd) {
  auto writer = Make(100);
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    writer->Add(std::to_string(i), 1);
    expected += std::to_string(i) + "\n";
  }
  writer.reset();
  EXPECT_EQ(ReadSome(pipe_.read), expected);
  EXPECT_EQ(counts_.waiting.load(), 0u);
  EXPECT_EQ(counts_.dropped.load(), 0u);
}

TEST_F(LineWriterTest, AFlushWaitsForWhatWasAddedBefore) {
  const auto writer = Make();
  writer->Add("one", 1);
  writer->Flush(TimePoint::max());
  EXPECT_EQ(ReadSome(pipe_.read), "one\n");
}

TEST_F(LineWriterTest, WhatFindsNoRoomIsDroppedCountedAndTold) {
  FillPipe();
  auto writer = Make();
  EXPECT_EQ(Fill(writer.get(), /*urgent=*/true), 10);
  writer->Add("one more", 1);
  EXPECT_EQ(counts_.dropped.load(), 2u);
  writer->Flush(Clock::Real()->Now());  // does not wait for a reader
  EXPECT_EQ(counts_.waiting.load(), 10u);
  std::string read;
  while (read.find("missing") == std::string::npos) read += ReadSome(pipe_.read);
  EXPECT_THAT(read, EndsWith("line\nline\n2 are missing\n"));
  EXPECT_EQ(counts_.waiting.load(), 0u);
  writer->Add("later", 1);
  writer.reset();
  EXPECT_EQ(ReadSome(pipe_.read), "later\n");
}

TEST_F(LineWriterTest, LinesThatAreNotUrgentLeaveRoomToOthers) {
  FillPipe();
  const auto writer = Make(80);
  EXPECT_EQ(Fill(writer.get(), /*urgent=*/false), 70);
  for (int i = 0; i < 11; ++i) writer->Add("urgent", 1);
  EXPECT_EQ(counts_.waiting.load(), 80u);
  EXPECT_EQ(counts_.dropped.load(), 2u);
}

TEST_F(LineWriterTest, TheOnlyLineMayCostAnything) {
  auto writer = Make();
  writer->Add("large", 1000);
  writer.reset();
  EXPECT_EQ(ReadSome(pipe_.read), "large\n");
}

TEST_F(LineWriterTest, TheEndDoesNotWaitForAReaderForEver) {
  FillPipe();
  auto writer = Make();
  for (int i = 0; i < 5; ++i) writer->Add("line", 1);
  writer.reset();
  EXPECT_EQ(counts_.waiting.load(), 0u);
  EXPECT_EQ(counts_.dropped.load(), 5u);
}

TEST_F(LineWriterTest, AnotherOutputGetsWhatComesAfterIt) {
  Ends other;
  MakePipe(&other);
  auto writer = Make();
  writer->Add("before", 1);
  writer->Use(Output::Duplicate(other.write));
  writer->Add("after", 1);
  writer.reset();
  EXPECT_EQ(ReadSome(pipe_.read), "before\n");
  EXPECT_EQ(ReadSome(other.read), "after\n");
}

TEST_F(LineWriterTest, WhatCannotBeWrittenIsCounted) {
  close(std::exchange(pipe_.read, -1));
  auto writer = Make();
  writer->Add("into the void", 1);  // without a signal of a broken pipe
  writer->Flush(TimePoint::max());
  EXPECT_EQ(counts_.dropped.load(), 1u);
}

TEST_F(LineWriterTest, ManyThreadsAdd) {
  auto writer = Make(100'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer] {
      for (int i = 0; i < 500; ++i) writer->Add(std::string(50, 'y'), 1);
    });
  }
  std::string read;
  while (read.size() < 4 * 500 * 51) read += ReadSome(pipe_.read);
  for (std::thread& thread : threads) thread.join();
  writer.reset();
  std::istringstream lines(read);
  for (std::string line; std::getline(lines, line);) ASSERT_EQ(line, std::string(50, 'y'));
}

}  // namespace
}  // namespace nereid
