// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/cpu_budget.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace nereid_backend {
namespace {

class CpuQuotaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("cpu_quota_") + info->name() + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  double Quota() const { return ReadCpuQuota(root_.string()); }

  std::filesystem::path root_;
};

TEST_F(CpuQuotaTest, NoFilesMeanNoQuota) { EXPECT_EQ(Quota(), 0); }

TEST_F(CpuQuotaTest, Version2) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(Quota(), 1.5);
}

TEST_F(CpuQuotaTest, Version2WithoutLimit) {
  Write("proc/self/cgroup", "0::/a\n");
  Write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST_F(CpuQuotaTest, TheSmallestAlongThePathCounts) {
  Write("proc/self/cgroup", "0::/pod/container\n");
  Write("sys/fs/cgroup/pod/cpu.max", "200000 100000\n");
  Write("sys/fs/cgroup/pod/container/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(Quota(), 2);
}

TEST_F(CpuQuotaTest, Version1) {
  Write("proc/self/cgroup", "5:memory:/x\n4:cpuacct,cpu:/x\n");
  Write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "50000\n");
  Write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(Quota(), 0.5);
}

TEST_F(CpuQuotaTest, Version1WithoutLimit) {
  Write("proc/self/cgroup", "4:cpu,cpuacct:/\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota(), 0);
}

TEST(CpuBudgetTest, NeverBelowOneThreadNorAboveTheVisibleCpus) {
  const CpuBudget budget = ReadCpuBudget();
  EXPECT_GE(budget.threads, 1);
  EXPECT_LE(budget.threads, budget.visible_cpus);
}

TEST(CpuBudgetTest, Describes) {
  EXPECT_EQ((CpuBudget{1, 0, 1}.Describe()), "1 CPU visible, no quota");
  EXPECT_EQ((CpuBudget{4, 1.5, 2}.Describe()), "4 CPUs visible, quota 1.5 CPUs");
}

}  // namespace
}  // namespace nereid_backend
