// SPDX-License-Identifier: Apache-2.0
#include "backends/python/fork_servers.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid_backend {
namespace {

uint64_t now = 0;

// No process is started here, so the servers differ by their address only.
class ForkServersTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kKeep = 60;

  ForkServersTest() { now = 1000; }

  static ForkServers::Options OptionsFor(size_t most_kept) {
    ForkServers::Options options;
    options.keep_ns = kKeep;
    options.most_kept = most_kept;
    options.clock = [] { return now; };
    return options;
  }
  static Launch LaunchOf(const std::string& interpreter) {
    Launch launch;
    launch.interpreter = interpreter;
    launch.environment = {"PATH=/bin"};
    return launch;
  }

  ForkServers servers_{OptionsFor(2)};
};

TEST_F(ForkServersTest, ModelsOfOneEnvironmentShareAServer) {
  const auto one = servers_.For(LaunchOf("a"), "main");
  EXPECT_EQ(servers_.For(LaunchOf("a"), "main"), one);
  EXPECT_NE(servers_.For(LaunchOf("b"), "main"), one);
  EXPECT_NE(servers_.For(LaunchOf("a"), "other"), one);
  Launch changed = LaunchOf("a");
  changed.environment.push_back("X=1");
  EXPECT_NE(servers_.For(changed, "main"), one);
}

TEST_F(ForkServersTest, AServerIsKeptForItsTime) {
  const ForkServer* const first = servers_.For(LaunchOf("a"), "main").get();
  EXPECT_EQ(servers_.kept(), 1U);
  now += kKeep - 1;
  EXPECT_EQ(servers_.For(LaunchOf("a"), "main").get(), first);
  // Its time begins anew.
  now += kKeep - 1;
  auto used = servers_.For(LaunchOf("a"), "main");
  EXPECT_EQ(used.get(), first);
  EXPECT_EQ(servers_.kept(), 0U);
  // While it is used, its time does not end.
  now += 10 * kKeep;
  EXPECT_EQ(servers_.For(LaunchOf("a"), "main"), used);
}

TEST_F(ForkServersTest, AServerIsReplacedAfterItsTime) {
  auto kept = servers_.For(LaunchOf("a"), "main");
  EXPECT_TRUE(kept->Return(now));
  kept->Leave(now + kKeep);
  EXPECT_TRUE(kept->Return(now + kKeep - 1));
  kept->Leave(now + kKeep);
  EXPECT_FALSE(kept->Return(now + kKeep));
  kept.reset();
  now += kKeep;
  // The end of the use of another one takes it out.
  servers_.For(LaunchOf("b"), "main");
  EXPECT_EQ(servers_.kept(), 1U);
}

TEST_F(ForkServersTest, TheOneUnusedForLongestEndsFirst) {
  const auto use = [&](const char* interpreter) {
    ++now;
    return servers_.For(LaunchOf(interpreter), "main").get();
  };
  const auto busy = servers_.For(LaunchOf("busy"), "main");
  use("a");
  const ForkServer* const b = use("b");
  const ForkServer* const c = use("c");
  EXPECT_EQ(servers_.kept(), 2U);
  EXPECT_EQ(use("b"), b);
  EXPECT_EQ(use("c"), c);
  EXPECT_EQ(servers_.For(LaunchOf("busy"), "main"), busy);
}

TEST_F(ForkServersTest, NothingIsKeptWithoutATime) {
  ForkServers::Options options = OptionsFor(2);
  options.keep_ns = 0;
  ForkServers servers(options);
  servers.For(LaunchOf("a"), "main");
  EXPECT_EQ(servers.kept(), 0U);
}

}  // namespace
}  // namespace nereid_backend
