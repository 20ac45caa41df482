// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/batch_former.h"

#include <gtest/gtest.h>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

InputSpec Spec(std::string name, Shape dims) {
  InputSpec spec;
  spec.name = std::move(name);
  spec.data_type = DataType::kInt8;
  spec.dims = std::move(dims);
  return spec;
}

class CompatibilityTest : public ::testing::Test {
 protected:
  void Use(const ModelBuilder& builder) { model_ = FakeModel::Make(builder); }

  std::unique_ptr<TestRequest> Request(const std::vector<std::pair<std::string, Shape>>& inputs) {
    auto request = std::make_unique<TestRequest>(model_);
    for (const auto& [name, shape] : inputs) request->Input(name, DataType::kInt8, shape);
    return request;
  }

  // Asks for both orders of the requests, because the rule is symmetric.
  bool MayShare(const std::vector<std::pair<std::string, Shape>>& a,
                const std::vector<std::pair<std::string, Shape>>& b) {
    const auto first = Request(a), second = Request(b);
    const bool share = MayShareBatch(model_->config(), *first->get(), *second->get());
    EXPECT_EQ(share, MayShareBatch(model_->config(), *second->get(), *first->get()));
    return share;
  }

  std::shared_ptr<FakeModel> model_;
};

TEST_F(CompatibilityTest, FixedDimsAreNotCompared) {
  Use(ModelBuilder().MaxBatch(8).Input(Spec("a", {4})));
  EXPECT_TRUE(MayShare({{"a", {1, 4}}}, {{"a", {3, 4}}}));
}

TEST_F(CompatibilityTest, VariableDimsMustBeEqual) {
  Use(ModelBuilder().MaxBatch(8).Input(Spec("a", {-1, 4})));
  EXPECT_TRUE(MayShare({{"a", {1, 2, 4}}}, {{"a", {1, 2, 4}}}));
  EXPECT_FALSE(MayShare({{"a", {1, 2, 4}}}, {{"a", {1, 3, 4}}}));
}

TEST_F(CompatibilityTest, TheBatchDimensionIsNotCompared) {
  Use(ModelBuilder().MaxBatch(8).Input(Spec("a", {-1})));
  EXPECT_TRUE(MayShare({{"a", {1, 5}}}, {{"a", {7, 5}}}));
}

TEST_F(CompatibilityTest, EveryVariableInputCounts) {
  Use(ModelBuilder().MaxBatch(8).Input(Spec("a", {-1})).Input(Spec("b", {-1})));
  EXPECT_TRUE(MayShare({{"a", {1, 5}}, {"b", {1, 6}}}, {{"b", {1, 6}}, {"a", {1, 5}}}));
  EXPECT_FALSE(MayShare({{"a", {1, 5}}, {"b", {1, 6}}}, {{"a", {1, 5}}, {"b", {1, 7}}}));
}

TEST_F(CompatibilityTest, RaggedInputsMayDiffer) {
  InputSpec ragged = Spec("r", {-1});
  ragged.allow_ragged = true;
  Use(ModelBuilder().MaxBatch(8).Input(ragged));
  EXPECT_TRUE(MayShare({{"r", {1, 5}}}, {{"r", {1, 9}}}));
  Use(ModelBuilder().MaxBatch(8).Input(ragged).Input(Spec("a", {-1})));
  EXPECT_TRUE(MayShare({{"r", {1, 5}}, {"a", {1, 2}}}, {{"r", {1, 9}}, {"a", {1, 2}}}));
  EXPECT_FALSE(MayShare({{"r", {1, 5}}, {"a", {1, 2}}}, {{"r", {1, 5}}, {"a", {1, 3}}}));
}

TEST_F(CompatibilityTest, OptionalInputsMustBeTheSame) {
  InputSpec optional = Spec("o", {4});
  optional.optional = true;
  InputSpec other = Spec("p", {4});
  other.optional = true;
  Use(ModelBuilder().MaxBatch(8).Input(Spec("a", {4})).Input(optional).Input(other));
  const std::pair<std::string, Shape> a{"a", {1, 4}}, o{"o", {1, 4}}, p{"p", {1, 4}};
  EXPECT_TRUE(MayShare({a}, {a}));
  EXPECT_TRUE(MayShare({a, o}, {o, a}));
  EXPECT_FALSE(MayShare({a}, {a, o}));
  EXPECT_FALSE(MayShare({a, p}, {a, o}));
  EXPECT_FALSE(MayShare({a, o, p}, {a, o}));
}

}  // namespace
}  // namespace nereid
