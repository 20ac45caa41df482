// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include "backends/sdk/testing/fake_server.h"
#include "backends/tensorflow/channel.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class SupervisorTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(testing::LiveErrors(), 0);
    // All started processes have been reaped.
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  static Result<std::unique_ptr<Supervisor>> Start(const std::string& what,
                                                   const std::string& program = FAKE_WORKER) {
    Supervisor::Spec spec;
    spec.executable = program;
    spec.model = "m";
    spec.load.path = what;
    return Supervisor::Start(std::move(spec));
  }
  static std::unique_ptr<Supervisor> MustStart(const std::string& what) {
    Result<std::unique_ptr<Supervisor>> started = Start(what);
    EXPECT_TRUE(started.ok());
    return started.ok() ? std::move(*started) : nullptr;
  }
  static std::string StartError(const std::string& what, const std::string& program = FAKE_WORKER) {
    Result<std::unique_ptr<Supervisor>> started = Start(what, program);
    return started.ok() ? "" : started.error().message();
  }

  // The result of a run on `data`, or the message of its error.
  static std::string Run(Channel* channel, const std::string& data) {
    nereid_tensorflow::RunRequest request;
    nereid_tensorflow::PlacedTensor input;
    input.dims = {static_cast<int64_t>(data.size())};
    input.size = data.size();
    request.inputs = {input};
    request.outputs = {0};
    request.outputs_offset = nereid_tensorflow::AlignUp(data.size());
    Result<char*> memory = channel->Reserve(request.outputs_offset);
    if (!memory.ok()) return memory.error().message();
    memcpy(*memory, data.data(), data.size());
    nereid_tensorflow::RunReply reply;
    const Error ran = channel->Run(request, &reply);
    if (!ran.ok()) return ran.message();
    return {channel->data() + reply.outputs.at(0).offset, reply.outputs[0].size};
  }
  static std::unique_ptr<Channel> MustOpen(
      Supervisor* supervisor, std::function<void()> on_end = [] {}) {
    Result<std::unique_ptr<Channel>> channel = supervisor->OpenChannel(std::move(on_end));
    EXPECT_TRUE(channel.ok());
    return channel.ok() ? std::move(*channel) : nullptr;
  }
};

TEST_F(SupervisorTest, AWorkerComputes) {
  const std::unique_ptr<Supervisor> supervisor = MustStart("echo");
  EXPECT_EQ(supervisor->loaded().inputs.at(0).name, "X");
  const std::unique_ptr<Channel> first = MustOpen(supervisor.get());
  const std::unique_ptr<Channel> second = MustOpen(supervisor.get());
  EXPECT_EQ(Run(first.get(), "abc"), "abc");
  EXPECT_EQ(first->compute_start(), 5u);
  EXPECT_EQ(first->compute_end(), 7u);
  EXPECT_EQ(Run(second.get(), ""), "");
  const std::string large(3 << 20, 'l');
  EXPECT_EQ(Run(first.get(), large), large);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Run(first.get(), "small"), "small");
  EXPECT_EQ(Run(first.get(), large), large);
  EXPECT_EQ(Run(first.get(), "e"), "it does not like that");
  EXPECT_TRUE(supervisor->Ready().ok());
}

TEST_F(SupervisorTest, AFailureToLoadIsTheWorkersOwnWord) {
  EXPECT_EQ(StartError("refuse"), "it is refused");
}

TEST_F(SupervisorTest, AWorkerThatEndsWhileItLoads) {
  EXPECT_EQ(StartError("abort"), "the TensorFlow process of model 'm' ended by signal 6 (Aborted)");
  EXPECT_EQ(StartError("exit"), "the TensorFlow process of model 'm' exited with status 3");
}

TEST_F(SupervisorTest, AWorkerThatHangsWhileItLoadsIsEnded) {
  Supervisor::Spec spec;
  spec.executable = FAKE_WORKER;
  spec.model = "m";
  spec.load.path = "hang";
  spec.load_limit_ns = 1;
  Result<std::unique_ptr<Supervisor>> started = Supervisor::Start(std::move(spec));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), TRITONSERVER_ERROR_UNAVAILABLE);
  EXPECT_THAT(started.error().message(), HasSubstr("load-timeout-seconds"));
}

// TensorFlow's instances call the server there, which may call back.
TEST_F(SupervisorTest, NoLockIsHeldWhileTheEndIsTold) {
  const std::unique_ptr<Supervisor> supervisor = MustStart("echo");
  Supervisor* const keeper = supervisor.get();
  std::atomic<int> answers{0};
  const std::unique_ptr<Channel> channel = MustOpen(supervisor.get(), [&] {
    const Error ready = keeper->Ready();  // takes the lock that must not be held
    ++answers;
  });
  EXPECT_THAT(Run(channel.get(), "x"), HasSubstr("exited with status 3"));
  EXPECT_EQ(answers, 1);
}

TEST_F(SupervisorTest, AWorkerThatTalksNonsenseIsEnded) {
  EXPECT_THAT(StartError("nonsense"), StartsWith("the TensorFlow process of model 'm' "));
}

TEST_F(SupervisorTest, AProgramThatIsMissingOrNoWorker) {
  EXPECT_THAT(StartError("echo", "/nonexistent/worker"), HasSubstr("No such file or directory"));
  EXPECT_EQ(StartError("echo", "/bin/true"),
            "the TensorFlow process of model 'm' exited with status 0");
}

TEST_F(SupervisorTest, TheRunInAWorkerThatEndsFailsAndTheNextWorkerComputes) {
  const std::unique_ptr<Supervisor> supervisor = MustStart("echo");
  int ends = 0;
  std::unique_ptr<Channel> channel = MustOpen(supervisor.get(), [&] { ++ends; });
  int ends_of_closed = 0;
  MustOpen(supervisor.get(), [&] { ++ends_of_closed; }).reset();
  EXPECT_EQ(Run(channel.get(), "k"),
            "the TensorFlow process of model 'm' ended by signal 6 (Aborted): fake.cc:1] Check "
            "failed: false");
  EXPECT_FALSE(channel->usable());
  EXPECT_EQ(ends, 1) << "before the run fails";
  EXPECT_EQ(ends_of_closed, 0);
  EXPECT_THAT(channel->End().message(), HasSubstr("ended by signal 6"));
  EXPECT_THAT(Run(channel.get(), "abc"), HasSubstr("ended by signal 6"));
  // MustOpen waits for the next worker.
  channel = MustOpen(supervisor.get());
  EXPECT_EQ(Run(channel.get(), "abc"), "abc");
  // From the second failure in a row on, the next worker is started after a pause. If this thread
  // is so slow that the pause is over, it tries again; each pause is twice as long as the one
  // before.
  Result<std::unique_ptr<Channel>> opened = std::move(channel);
  while (opened.ok()) {
    EXPECT_THAT(Run(opened->get(), "x"), HasSubstr("exited with status 3"));
    opened = supervisor->OpenChannel([] {});
  }
  EXPECT_EQ(opened.error().code(), TRITONSERVER_ERROR_UNAVAILABLE);
  EXPECT_THAT(
      opened.error().message(),
      MatchesRegex("the TensorFlow process of model 'm' exited with status 3 and is started "
                   "again in [0-9]+ s"));
  EXPECT_FALSE(supervisor->Ready().ok());
}

TEST_F(SupervisorTest, AnAnswerThatPointsOutsideTheMemoryIsRefused) {
  const std::unique_ptr<Supervisor> supervisor = MustStart("echo");
  const std::unique_ptr<Channel> channel = MustOpen(supervisor.get());
  EXPECT_EQ(Run(channel.get(), "n"), "an answer of the TensorFlow process is damaged");
  EXPECT_EQ(Run(channel.get(), "abc"), "abc");
}

TEST_F(SupervisorTest, AWorkerThatDoesNotEndIsKilled) {
  std::unique_ptr<Supervisor> supervisor = MustStart("deaf");
  std::unique_ptr<Channel> channel = MustOpen(supervisor.get());
  EXPECT_EQ(Run(channel.get(), "abc"), "abc");
  channel.reset();
  supervisor.reset();  // TearDown checks that no process is left
}

}  // namespace
}  // namespace nereid_backend
