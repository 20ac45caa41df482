// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model that repeats X as Y: elements of one byte, two per row.
Signature EchoSignature() {
  ModelTensor tensor;
  tensor.type = TRITONSERVER_TYPE_UINT8;
  tensor.dims = {-1, 2};
  Signature signature;
  tensor.name = "X";
  signature.inputs = {tensor};
  tensor.name = "Y";
  signature.outputs = {tensor};
  return signature;
}

class GraphExecutorTest : public ::testing::Test {
 protected:
  void Bind(GraphExecutor::Outputs outputs, int64_t max_batch_size = 8,
            const Signature& signature = EchoSignature()) {
    const Result<ModelConfig> config =
        ParseModelConfig(R"({"name":"echo","max_batch_size":)" + std::to_string(max_batch_size) +
                         R"(,"input":[{"name":"X","data_type":"TYPE_UINT8","dims":[2]}],
            "output":[{"name":"Y","data_type":"TYPE_UINT8","dims":[2]}]})");
    ASSERT_TRUE(config.ok());
    Result<std::unique_ptr<BoundModel>> model = BoundModel::Bind(*config, signature);
    ASSERT_TRUE(model.ok());
    model_ = std::move(*model);
    executor_ = std::make_unique<GraphExecutor>(*model_, outputs);
  }
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  static TRITONBACKEND_Request Request(const std::string& data) {
    TRITONBACKEND_Request request;
    request.inputs.push_back(testing::MakeInput("X", TRITONSERVER_TYPE_UINT8,
                                                {static_cast<int64_t>(data.size() / 2), 2}, data));
    request.wanted_outputs = {"Y"};
    return request;
  }

  // Runs the requests as one batch; records in runs_ the input of each run.
  void Run(const std::vector<TRITONBACKEND_Request*>& requests) {
    runs_.clear();
    std::vector<TRITONBACKEND_Request*> pointers = requests;
    EXPECT_EQ(RunBatch(&instance_, pointers.data(), static_cast<uint32_t>(pointers.size()),
                       [&](Batch& batch) {
                         executor_->Begin(&batch);
                         while (executor_->Next()) executor_->End(Compute());
                         return Error();
                       }),
              nullptr);
  }
  Error Compute() {
    RunInput& input = executor_->inputs()[0];
    const std::string data(input.Contiguous(1), input.byte_size);
    runs_.push_back(data);
    for (RunOutput& output : executor_->outputs()) {
      output.shape = input.shape;
      kept_ = data;
      if (output.place != nullptr) memcpy(output.place, kept_.data(), kept_.size());
      output.data = output.place != nullptr ? output.place : kept_.data();
      places_ += output.place != nullptr ? 1 : 0;
    }
    if (data[0] == '!') return Error::Internal("the runtime gave up");
    return Error();
  }
  static std::string Answer(const TRITONBACKEND_Request& request) {
    const testing::SeenResponse& response = request.responses.at(0);
    return response.errors.empty() ? response.outputs.at(0).data : response.errors[0].message;
  }

  TRITONBACKEND_ModelInstance instance_;
  std::unique_ptr<BoundModel> model_;
  std::unique_ptr<GraphExecutor> executor_;
  std::vector<std::string> runs_;
  std::string kept_;
  int places_ = 0;
};

TEST_F(GraphExecutorTest, ABatchIsOneRun) {
  Bind(GraphExecutor::Outputs::kInOwnMemory);
  TRITONBACKEND_Request first = Request("ab");
  TRITONBACKEND_Request second = Request("cdef");
  Run({&first, &second});
  EXPECT_THAT(runs_, ElementsAre("abcdef"));
  EXPECT_EQ(Answer(first), "ab");
  EXPECT_EQ(Answer(second), "cdef");
  EXPECT_THAT(second.responses[0].outputs[0].shape, ElementsAre(2, 2));
}

TEST_F(GraphExecutorTest, WithoutBatchingEachRequestIsARun) {
  Signature signature = EchoSignature();
  signature.inputs[0].dims = {2};
  signature.outputs[0].dims = {2};
  Bind(GraphExecutor::Outputs::kInOwnMemory, 0, signature);
  TRITONBACKEND_Request first = Request("ab");
  TRITONBACKEND_Request second = Request("cd");
  first.inputs[0].shape = {2};
  second.inputs[0].shape = {2};
  Run({&first, &second});
  EXPECT_THAT(runs_, ElementsAre("ab", "cd"));
  EXPECT_EQ(Answer(second), "cd");
}

TEST_F(GraphExecutorTest, OtherShapesAreARunOfTheirOwn) {
  Signature signature = EchoSignature();
  signature.inputs[0].dims = {-1, -1};
  Bind(GraphExecutor::Outputs::kInOwnMemory, 8, signature);
  TRITONBACKEND_Request first = Request("ab");
  TRITONBACKEND_Request wide = Request("cdef");
  wide.inputs[0].shape = {1, 4};
  TRITONBACKEND_Request third = Request("gh");
  Run({&first, &wide, &third});
  EXPECT_THAT(runs_, ElementsAre("abgh", "cdef"));
  EXPECT_EQ(Answer(third), "gh");
}

TEST_F(GraphExecutorTest, WhatMayNotJoinRunsLater) {
  Bind(GraphExecutor::Outputs::kInOwnMemory);
  // Requests of the same kind must not share a run.
  std::vector<std::string> kinds = {"a", "a", "b", "a"};
  executor_->set_may_join([&](size_t a, size_t b) { return kinds[a] != kinds[b]; });
  std::vector<std::vector<size_t>> groups;
  TRITONBACKEND_Request requests[] = {Request("a1"), Request("a2"), Request("b1"), Request("a3")};
  std::vector<TRITONBACKEND_Request*> pointers;
  for (TRITONBACKEND_Request& request : requests) pointers.push_back(&request);
  EXPECT_EQ(RunBatch(&instance_, pointers.data(), 4,
                     [&](Batch& batch) {
                       executor_->Begin(&batch);
                       while (executor_->Next()) {
                         groups.emplace_back(executor_->group().begin(), executor_->group().end());
                         executor_->End(Compute());
                       }
                       return Error();
                     }),
            nullptr);
  EXPECT_THAT(runs_, ElementsAre("a1b1", "a2", "a3"));
  EXPECT_THAT(groups, ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3)));
  EXPECT_EQ(Answer(requests[3]), "a3");
}

TEST_F(GraphExecutorTest, AFailureStaysInItsRun) {
  Bind(GraphExecutor::Outputs::kInOwnMemory);
  TRITONBACKEND_Request wrong = Request("ab");
  wrong.inputs[0].type = TRITONSERVER_TYPE_INT8;
  TRITONBACKEND_Request good = Request("cd");
  Run({&wrong, &good});
  EXPECT_THAT(Answer(wrong), HasSubstr("expected UINT8, got INT8"));
  EXPECT_EQ(Answer(good), "cd");
  TRITONBACKEND_Request fails = Request("!!");
  Run({&fails});
  EXPECT_EQ(Answer(fails), "the runtime gave up");
}

TEST_F(GraphExecutorTest, PlacesAreGivenOnceShapesAreConfirmed) {
  Bind(GraphExecutor::Outputs::kInPlace);
  TRITONBACKEND_Request first = Request("ab");
  Run({&first});
  EXPECT_EQ(places_, 0);
  EXPECT_EQ(model_->shape_trust(), BoundModel::ShapeTrust::kConfirmed);
  TRITONBACKEND_Request second = Request("cd");
  Run({&second});
  EXPECT_EQ(places_, 1);
  EXPECT_EQ(Answer(second), "cd");
  TRITONBACKEND_Request third = Request("ef");
  TRITONBACKEND_Request fourth = Request("gh");
  Run({&third, &fourth});
  EXPECT_EQ(places_, 1) << "small results of several requests are copied";
  EXPECT_EQ(Answer(fourth), "gh");
}

TEST_F(GraphExecutorTest, LargeResultsOfSeveralRequestsAreSentFromWhereTheyAre) {
  Bind(GraphExecutor::Outputs::kInPlace);
  model_->set_shape_trust(BoundModel::ShapeTrust::kConfirmed);
  const std::string a(OutputBlocks::kLeastPart, 'a');
  const std::string b(3 * OutputBlocks::kLeastPart, 'b');
  for (const bool taken : {true, false}) {
    testing::TakeLent(taken);
    TRITONBACKEND_Request first = Request(a);
    TRITONBACKEND_Request second = Request(b);
    Run({&first, &second});
    EXPECT_EQ(Answer(first), a);
    EXPECT_EQ(Answer(second), b);
    EXPECT_EQ(first.responses[0].outputs[0].lent, taken);
    EXPECT_EQ(second.responses[0].outputs[0].lent, taken);
    testing::ReleaseLent();
  }
  EXPECT_EQ(places_, 2);
  testing::TakeLent(false);
}

TEST_F(GraphExecutorTest, SlowClientsKeepOnlySomeBlocks) {
  Bind(GraphExecutor::Outputs::kInPlace);
  model_->set_shape_trust(BoundModel::ShapeTrust::kConfirmed);
  testing::TakeLent(true);
  for (size_t i = 0; i < OutputBlocks::kMostInUse + 2; ++i) {
    TRITONBACKEND_Request first = Request(std::string(OutputBlocks::kLeastPart, 'a'));
    TRITONBACKEND_Request second = Request(std::string(OutputBlocks::kLeastPart, 'b'));
    Run({&first, &second});
    EXPECT_EQ(Answer(second)[0], 'b');
    EXPECT_EQ(second.responses[0].outputs[0].lent, i < OutputBlocks::kMostInUse);
  }
  testing::ReleaseLent();
  testing::TakeLent(false);
}

TEST_F(GraphExecutorTest, AFailedRunGivesItsBlockBack) {
  Bind(GraphExecutor::Outputs::kInPlace);
  model_->set_shape_trust(BoundModel::ShapeTrust::kConfirmed);
  for (size_t i = 0; i < OutputBlocks::kMostInUse + 2; ++i) {
    TRITONBACKEND_Request first = Request(std::string(OutputBlocks::kLeastPart, '!'));
    TRITONBACKEND_Request second = Request(std::string(OutputBlocks::kLeastPart, 'b'));
    Run({&first, &second});
    EXPECT_EQ(Answer(second), "the runtime gave up");
  }
  EXPECT_EQ(places_, static_cast<int>(OutputBlocks::kMostInUse + 2));
}

TEST_F(GraphExecutorTest, WrongShapesAreNotBelieved) {
  Signature signature = EchoSignature();
  signature.outputs[0].dims = {-1, 3};
  Bind(GraphExecutor::Outputs::kInPlace, 8, signature);
  TRITONBACKEND_Request first = Request("ab");
  Run({&first});
  EXPECT_EQ(model_->shape_trust(), BoundModel::ShapeTrust::kRefuted);
  TRITONBACKEND_Request second = Request("cd");
  Run({&second});
  EXPECT_EQ(places_, 0);
  EXPECT_EQ(Answer(second), "cd");
}

TEST_F(GraphExecutorTest, ReplanTakesThePlacesBack) {
  Bind(GraphExecutor::Outputs::kInPlace);
  model_->set_shape_trust(BoundModel::ShapeTrust::kConfirmed);
  TRITONBACKEND_Request request = Request("ab");
  TRITONBACKEND_Request* pointers[] = {&request};
  EXPECT_EQ(RunBatch(&instance_, pointers, 1,
                     [&](Batch& batch) {
                       executor_->Begin(&batch);
                       EXPECT_TRUE(executor_->Next());
                       EXPECT_NE(executor_->outputs()[0].place, nullptr);
                       EXPECT_TRUE(executor_->Replan());
                       EXPECT_EQ(executor_->outputs()[0].place, nullptr);
                       EXPECT_FALSE(executor_->Replan());
                       executor_->End(Compute());
                       return Error();
                     }),
            nullptr);
  EXPECT_EQ(request.responses_deleted, 1);
  EXPECT_EQ(Answer(request), "ab");
}

}  // namespace
}  // namespace nereid_backend
