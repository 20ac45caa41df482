// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> GroupProblems(const std::string& groups) {
  return ProblemsOf(
      [](const inference::ModelConfig& config, Diagnostics* diagnostics) {
        CheckInstanceGroups(config, PlacementRules(), diagnostics);
      },
      "name: 'm' " + groups);
}

TEST(CheckInstanceGroupsTest, AcceptsGoodOnes) {
  EXPECT_THAT(GroupProblems("instance_group { name: 'g' kind: KIND_CPU count: 4 } "
                            "instance_group { name: 'h' kind: KIND_MODEL count: 1 }"),
              IsEmpty());
  EXPECT_THAT(GroupProblems("platform: 'ensemble' instance_group { kind: KIND_GPU }"), IsEmpty());
}

TEST(CheckInstanceGroupsTest, Devices) {
  EXPECT_THAT(
      GroupProblems("instance_group { name: 'g' kind: KIND_GPU count: 1 gpus: 0 } "
                    "instance_group { name: 'h' kind: KIND_CPU count: 1 gpus: 0 } "
                    "instance_group { name: 'i' kind: KIND_MODEL count: 1 gpus: 0 } "
                    "instance_group { name: 'j' kind: 9 count: 1 }"),
      ElementsAre(
          "instance_group[0].kind: instance group g of model m has kind KIND_GPU but no GPUs are "
          "available",
          "instance_group[1].gpus: instance group h of model m has kind KIND_CPU but "
          "specifies one or more GPUs",
          "instance_group[2].gpus: instance group i of model m has kind KIND_MODEL but "
          "specifies one or more GPUs",
          "instance_group[3].kind: instance group j of model m has unexpected kind 9"));
}

TEST(CheckInstanceGroupsTest, DevicesOfAMachineWithGpus) {
  PlacementRules rules;
  rules.gpus = {0, 2};
  rules.min_compute_capability = 6;
  const auto check = [&](const inference::ModelConfig& config, Diagnostics* diagnostics) {
    CheckInstanceGroups(config, rules, diagnostics);
  };
  const char* text =
      "name: 'm' backend: 'b' "
      "instance_group { name: 'g' kind: KIND_GPU count: 1 gpus: [ 2, 0, 0 ] } "
      "instance_group { name: 'h' kind: KIND_GPU count: 1 gpus: [ 0, 1, 7 ] } "
      "instance_group { name: 'i' kind: KIND_GPU count: 1 gpus: -1 }";
  EXPECT_THAT(ProblemsOf(check, text),
              ElementsAre("instance_group[1].gpus: instance group h of model m specifies invalid "
                          "or unsupported gpu id 1. GPUs with at least the minimum required CUDA "
                          "compute compatibility of 6.000000 are: 0, 2",
                          "instance_group[2].gpus: instance group i of model m specifies invalid "
                          "or unsupported gpu id -1. GPUs with at least the minimum required CUDA "
                          "compute compatibility of 6.000000 are: 0, 2"));
  rules.computes_on_cpus = true;
  EXPECT_THAT(ProblemsOf(check,
                         "name: 'm' backend: 'b' instance_group { name: 'g' kind: KIND_GPU "
                         "count: 1 gpus: 0 }"),
              ElementsAre("instance_group[0].kind: instance group g of model m has kind KIND_GPU "
                          "but backend 'b' computes on CPUs"));
}

TEST(CheckInstanceGroupsTest, Profiles) {
  EXPECT_THAT(
      GroupProblems("platform: 'p' instance_group { name: 'g' kind: KIND_CPU profile: '0' }"),
      ElementsAre("instance_group[0].profile: instance group g of model m and platform "
                  "pspecifies profile field which is only supported for TensorRT models"));
  EXPECT_THAT(GroupProblems("platform: 'tensorrt_plan' "
                            "instance_group { name: 'g' kind: KIND_CPU profile: [ '0', '-1' ] }"),
              ElementsAre("instance_group[0].profile: instance group g of model m and platform "
                          "tensorrt_plan specifies invalid profile -1. The field should contain "
                          "the string representation of a non-negative integer."));
}

TEST(CheckInstanceGroupsTest, NumberOfInstancesIsLimited) {
  EXPECT_THAT(GroupProblems("instance_group { name: 'g' kind: KIND_CPU count: 4096 }"), IsEmpty());
  EXPECT_THAT(GroupProblems("instance_group { name: 'g' kind: KIND_CPU count: 2147483647 } "
                            "instance_group { name: 'h' kind: KIND_CPU count: 2147483647 }"),
              ElementsAre("instance_group: too many instances for m"));
  PlacementRules rules;
  rules.gpus = {0, 1};
  const auto check = [&](const inference::ModelConfig& config, Diagnostics* diagnostics) {
    CheckInstanceGroups(config, rules, diagnostics);
  };
  EXPECT_THAT(ProblemsOf(check,
                         "name: 'm' instance_group { name: 'g' kind: KIND_GPU count: 2049 "
                         "gpus: [ 0, 1 ] }"),
              ElementsAre("instance_group: too many instances for m"));
}

}  // namespace
}  // namespace nereid
