// SPDX-License-Identifier: Apache-2.0
#include "execution/host_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<HostPolicy> Make(const std::string& setting, const std::string& value) {
  return HostPolicy::Make({{"p", {{setting, value}}}}, "p");
}

// The processors that a thread may use after it has applied `policy`. `status`: the result of
// ApplyToThread.
cpu_set_t CoresAfter(const HostPolicy& policy, absl::Status* status) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::thread([&] {
    *status = policy.ApplyToThread();
    sched_getaffinity(0, sizeof(cores), &cores);
  }).join();
  return cores;
}

// The lowest processor that this process may use.
int FirstCore() {
  cpu_set_t cores;
  sched_getaffinity(0, sizeof(cores), &cores);
  int core = 0;
  while (!CPU_ISSET(core, &cores)) ++core;
  return core;
}

TEST(HostPolicyTest, ListsOfProcessors) {
  EXPECT_THAT(Make("cpu-cores", "0")->cpu_cores(), ElementsAre(0));
  EXPECT_THAT(Make("cpu-cores", "0-3")->cpu_cores(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Make("cpu-cores", "5,1-2,2-3,5")->cpu_cores(), ElementsAre(1, 2, 3, 5));
  for (const char* bad : {"", ",", "a", "1-", "-1", "1-2-3", "3-1", " 1", "1,", "+1", "99999",
                          "1024", "99999999999999999999"}) {
    EXPECT_EQ(Make("cpu-cores", bad).status(),
              absl::InvalidArgumentError(std::string("host policy setting 'cpu-cores' format is "
                                                     "'<lower_cpu_core_id>-<upper_cpu_core_id>' or "
                                                     "'<cpu_core_id>,<cpu_core_id>'. Got ") +
                                         bad));
  }
}

TEST(HostPolicyTest, MemoryNodes) {
  EXPECT_EQ(Make("numa-node", "3")->numa_node(), 3);
  for (const char* bad : {"", "-1", "x", "0,1", "1024"}) {
    EXPECT_EQ(
        Make("numa-node", bad).status(),
        absl::InvalidArgumentError(
            std::string("host policy setting 'numa-node' is the number of a node. Got ") + bad));
  }
}

TEST(HostPolicyTest, OnlySettingsThatThereAre) {
  EXPECT_EQ(HostPolicy::CheckSetting("cpu-cores"), absl::OkStatus());
  EXPECT_EQ(HostPolicy::CheckSetting("numa-node"), absl::OkStatus());
  EXPECT_EQ(Make("cores", "1").status(),
            absl::UnimplementedError("Unsupported host policy setting 'cores' is specified, "
                                     "supported settings are 'numa-node', 'cpu-cores'"));
}

TEST(HostPolicyTest, WhatBackendsRead) {
  const HostPolicySettings settings = {{"p", {{"numa-node", "0"}, {"cpu-cores", "0-1"}}}};
  EXPECT_EQ(HostPolicy::Make(settings, "p")->ToJson(),
            R"({"p":{"cpu-cores":"0-1","numa-node":"0"}})");
  EXPECT_EQ(HostPolicy::Make(settings, "cpu")->ToJson(), R"({"cpu":{}})");
}

TEST(HostPolicyTest, APolicyWithoutSettingsLeavesTheThreadAlone) {
  const HostPolicy policy = *HostPolicy::Make({}, "cpu");
  EXPECT_TRUE(policy.empty());
  EXPECT_THAT(policy.cpu_cores(), IsEmpty());
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  absl::Status status;
  const cpu_set_t after = CoresAfter(policy, &status);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(HostPolicyTest, AThreadRunsWhereItsPolicySays) {
  const int core = FirstCore();
  const HostPolicy policy = *Make("cpu-cores", std::to_string(core));
  EXPECT_FALSE(policy.empty());
  absl::Status status;
  const cpu_set_t cores = CoresAfter(policy, &status);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(CPU_COUNT(&cores), 1);
  EXPECT_TRUE(CPU_ISSET(core, &cores));
}

TEST(HostPolicyTest, ProcessorsThatTheMachineHasNot) {
  absl::Status status;
  CoresAfter(*Make("cpu-cores", "1023"), &status);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("Unable to set NUMA thread affinity: Invalid argument (host policy "
                        "'p', processors 1023)"));
}

TEST(HostPolicyTest, TheFirstMemoryNodeIsThereOrKeptFromUs) {
  absl::Status status;
  CoresAfter(*Make("numa-node", "0"), &status);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace nereid
