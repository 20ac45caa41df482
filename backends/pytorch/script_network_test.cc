// SPDX-License-Identifier: Apache-2.0
// The loaded network gives the bits of the module in the file, whether or not it could be frozen.
#include "backends/pytorch/script_network.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <filesystem>
#include <sstream>

namespace nereid_backend {
namespace {

at::Tensor Values(std::initializer_list<int64_t> shape) {
  at::Tensor values = at::empty(shape);
  for (int64_t i = 0; i < values.numel(); ++i) {
    values.data_ptr<float>()[i] = 0.37f * static_cast<float>(i % 11) - 1.3f;
  }
  return values;
}

class ScriptNetworkTest : public testing::Test {
 protected:
  ScriptNetworkTest() : module_("M") {
    module_.register_attribute("training", c10::BoolType::get(), false);
    module_.register_parameter("weight", Values({8, 8}), false);
    module_.register_parameter("bias", Values({8}), false);
    module_.register_buffer("total", at::zeros({8}));
  }
  ~ScriptNetworkTest() override { std::filesystem::remove(path_); }

  // The network whose forward has this body, loaded from a file.
  std::unique_ptr<Network> Load(const std::string& body, const Parameters& parameters = {}) {
    return LoadWhole("def forward(self, x: Tensor, scale: Optional[Tensor] = None):\n" + body,
                     parameters);
  }
  std::unique_ptr<Network> LoadWhole(const std::string& forward,
                                     const Parameters& parameters = {}) {
    module_.define(forward);
    module_.save(path_);
    Result<std::unique_ptr<Network>> network = LoadScript(path_, parameters);
    EXPECT_TRUE(network.ok());
    return std::move(*network);
  }

  at::Tensor Run(const Network& network) { return network.Run({x_, c10::IValue()})[0].toTensor(); }
  at::Tensor Expected() { return module_.forward({x_, c10::IValue()}).toTensor(); }

  const c10::InferenceMode inference_;  // as in an instance
  const std::string path_ = testing::TempDir() + "script_network_test.pt";
  const at::Tensor x_ = Values({3, 8});
  torch::jit::Module module_;
};

// Whether forward reads its weights from the module.
bool ReadsAttributes(const torch::jit::Module& module) {
  std::ostringstream graph;
  graph << *module.get_method("forward").graph();
  return graph.str().find("prim::GetAttr") != std::string::npos;
}

constexpr char kDense[] =
    "    y = torch.relu(torch.linear(x, self.weight, self.bias))\n"
    "    y = torch.dropout(torch.softmax(y, 1), 0.5, self.training)\n"
    "    return torch.matmul(y, self.weight.t()) * torch.sqrt(torch.abs(self.bias))\n";

TEST_F(ScriptNetworkTest, AFrozenModuleReadsNoAttributes) {
  module_.define("def forward(self, x: Tensor):\n    return torch.matmul(x, self.weight)\n");
  EXPECT_TRUE(ReadsAttributes(module_));
  EXPECT_FALSE(ReadsAttributes(Frozen(module_, path_)));
}

TEST_F(ScriptNetworkTest, WhatPyTorchCannotFreezeStaysAsItIs) {
  module_.define("def forward(self, x: Tensor):\n    return torch.matmul(x, self.weight)\n");
  module_.train();
  EXPECT_TRUE(ReadsAttributes(Frozen(module_, path_)));
}

TEST_F(ScriptNetworkTest, AFrozenModuleGivesTheSameBits) {
  const std::unique_ptr<Network> network = Load(kDense);
  EXPECT_FALSE(network->traits().writes_attributes);
  // PyTorch optimizes a graph in the first runs.
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Run(*network).equal(Expected()));
}

TEST_F(ScriptNetworkTest, SoDoesTheModuleAsWritten) {
  Parameters parameters;
  parameters.optimized_execution = false;
  EXPECT_TRUE(Run(*Load(kDense, parameters)).equal(Expected()));
}

TEST_F(ScriptNetworkTest, WhatForwardWritesIsSeenByTheNextRun) {
  const std::unique_ptr<Network> network =
      Load("    self.total.add_(x.sum(0))\n    return self.total * 1\n");
  EXPECT_TRUE(network->traits().writes_attributes);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Run(*network).equal(Expected()));
}

TEST_F(ScriptNetworkTest, AFrozenModuleThatReturnsItsWeights) {
  const std::unique_ptr<Network> network = Load("    return self.weight\n");
  EXPECT_TRUE(Run(*network).equal(Expected()));
  EXPECT_TRUE(Run(*network).equal(Expected()));
}

TEST_F(ScriptNetworkTest, AForwardThatTakesTensorsOnly) {
  const std::unique_ptr<Network> network = LoadWhole(
      "def forward(self, x: Tensor, y: Tensor):\n    return torch.matmul(x, self.weight) + y, x - "
      "y\n");
  const at::Tensor y = Values({8});
  for (int i = 0; i < 4; ++i) {
    const auto expected = module_.forward({x_, y}).toTuple();
    const std::vector<c10::IValue> found = network->Run({x_, y});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].toTensor().equal(expected->elements()[0].toTensor()));
    EXPECT_TRUE(found[1].toTensor().equal(expected->elements()[1].toTensor()));
  }
  // What is no tensor, and a wrong number of arguments, PyTorch refuses in its own words.
  const auto refusal = [&](std::vector<c10::IValue> arguments) -> std::string {
    try {
      (void)network->Run(std::move(arguments));
    } catch (const c10::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({x_, c10::IValue()}).find("Expected a value of type 'Tensor' for argument 'y'"),
            std::string::npos);
  EXPECT_NE(refusal({x_}), "");
}

TEST_F(ScriptNetworkTest, AModuleInTrainingIsServedInEvaluation) {
  module_.train();
  const std::unique_ptr<Network> network = Load(kDense);
  module_.eval();
  EXPECT_TRUE(Run(*network).equal(Expected()));
}

}  // namespace
}  // namespace nereid_backend
