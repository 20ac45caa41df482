// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/script_traits.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

namespace nereid_backend {
namespace {

NetworkTraits Read(const std::string& body, const std::string& arguments = "x: Tensor") {
  torch::jit::Module module("M");
  module.register_attribute("kept", c10::TensorType::get(), at::Tensor());
  module.register_attribute("words", c10::ListType::ofStrings(), c10::List<std::string>());
  module.define("def forward(self, " + arguments + "):\n" + body);
  return TraitsOf(module.get_method("forward"));
}

TEST(ScriptTraitsTest, WhatOnlyReads) {
  const NetworkTraits traits = Read("    return torch.relu(x) + self.kept\n");
  EXPECT_FALSE(traits.writes_attributes);
  EXPECT_FALSE(traits.writes_argument[0]);
  EXPECT_FALSE(traits.forks);
}

TEST(ScriptTraitsTest, WritesIntoItsOwnResultsAreNobodysBusiness) {
  const NetworkTraits traits = Read("    return torch.relu_(x + 1)\n");
  EXPECT_FALSE(traits.writes_argument[0]);
  EXPECT_FALSE(traits.writes_attributes);
}

TEST(ScriptTraitsTest, WritesIntoAnArgument) {
  EXPECT_TRUE(Read("    return x.add_(1)\n").writes_argument[0]);
  // Writes through a view. (The analysis treats arguments of one type as possibly the same tensor.)
  EXPECT_TRUE(Read("    x[0].fill_(1)\n    return x\n").writes_argument[0]);
  EXPECT_TRUE(
      Read("    d['a'].add_(1)\n    return d['a']\n", "d: Dict[str, Tensor]").writes_argument[0]);
}

TEST(ScriptTraitsTest, WritesIntoTheModule) {
  EXPECT_TRUE(Read("    self.kept = x\n    return x\n").writes_attributes);
  EXPECT_TRUE(Read("    self.kept.add_(x)\n    return x\n").writes_attributes);
  EXPECT_TRUE(Read("    self.words.append('a')\n    return x\n").writes_attributes);
  EXPECT_TRUE(
      Read("    if bool(x.sum() > 0):\n        self.kept = x\n    return x\n").writes_attributes);
}

}  // namespace
}  // namespace nereid_backend
