// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <openvino/core/layout.hpp>

#include "backends/openvino/testing/models.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;
using testing::PlusOne;

ModelConfig Config(const std::string& json, bool auto_complete = false) {
  Result<ModelConfig> config = ParseModelConfig(json);
  EXPECT_TRUE(config.ok());
  config->auto_complete = auto_complete;
  return *config;
}
ModelConfig Batching() { return Config(R"({"name":"m","max_batch_size":8})"); }

// Text of the failure, or the shape of the output.
std::string Opened(const ModelConfig& config, std::shared_ptr<ov::Model> model) {
  const Error error = OpenBatchDimension(config, &model);
  return error.ok() ? model->output(0).get_partial_shape().to_string() : error.message();
}

TEST(ShapesTest, AFixedBatchBecomesVariable) {
  EXPECT_EQ(Opened(Batching(), PlusOne({1, 4})), "[?,4]");
  EXPECT_EQ(Opened(Batching(), PlusOne({6, 4})), "[?,4]");
  EXPECT_EQ(Opened(Config(R"({"name":"m"})"), PlusOne({1, 4})), "[1,4]") << "nobody asks for it";
}

TEST(ShapesTest, AModelThatCannotSaysWhy) {
  const auto x = testing::Input("X", ov::element::i32, {1, 4});
  const auto shape = testing::op::Constant::create(ov::element::i64, ov::Shape{2}, {1, 4});
  const auto fixed = std::make_shared<ov::Model>(
      ov::ResultVector{
          testing::Output("Y", std::make_shared<testing::op::Reshape>(x, shape, false))},
      ov::ParameterVector{x});
  EXPECT_EQ(Opened(Batching(), fixed),
            "unable to load model 'm': max_batch_size 8 needs a variable batch dimension, and "
            "OpenVINO cannot make the model's first dimension variable (output 'Y' keeps the shape "
            "[1,4]); set max_batch_size to 0");
}

TEST(ShapesTest, InputsOfDifferentFirstDimensionsHaveNoBatch) {
  const auto a = testing::Input("A", ov::element::i32, {1, 4});
  const auto b = testing::Input("B", ov::element::i32, {4});
  const auto model = std::make_shared<ov::Model>(
      ov::ResultVector{testing::Output("Y", std::make_shared<testing::op::Add>(a, b))},
      ov::ParameterVector{a, b});
  EXPECT_THAT(Opened(Batching(), model), HasSubstr("its inputs have different first dimensions"));
}

TEST(ShapesTest, LayoutsOfferBatchingWhereTheConfigurationIsOpen) {
  const auto with_layouts = [] {
    std::shared_ptr<ov::Model> model = PlusOne({1, 4});
    ov::layout::set_layout(model->input(0), "NC");
    ov::layout::set_layout(model->output(0), "NC");
    return model;
  };
  EXPECT_EQ(Opened(Config(R"({"name":"m"})", true), with_layouts()), "[?,4]");
  EXPECT_EQ(Opened(Config(R"({"name":"m"})", false), with_layouts()), "[1,4]");
  EXPECT_EQ(Opened(Config(R"({"name":"m"})", true), PlusOne({1, 4})), "[1,4]") << "no layouts";
  const ModelConfig listed =
      Config(R"({"name":"m","input":[{"name":"X","data_type":"TYPE_INT32","dims":[1,4]}]})", true);
  EXPECT_EQ(Opened(listed, with_layouts()), "[1,4]");
}

TEST(ShapesTest, StatesKeepAModelAsItIs) {
  EXPECT_EQ(Opened(Batching(), testing::Accumulator(1)), "[1,1]");
}

TEST(ShapesTest, ReshapeTakesTheConfigurationsDims) {
  const auto reshaped = [](const std::string& dims, int64_t max_batch_size) -> std::string {
    const std::shared_ptr<ov::Model> model = PlusOne({1, 4});
    const Error error = ReshapeToConfig(
        Config(R"({"name":"m","max_batch_size":)" + std::to_string(max_batch_size) +
               R"(,"input":[{"name":"X","data_type":"TYPE_INT32","dims":)" + dims + "}]}"),
        model.get());
    return error.ok() ? model->output(0).get_partial_shape().to_string() : error.message();
  };
  EXPECT_EQ(reshaped("[2,8]", 0), "[2,8]");
  EXPECT_EQ(reshaped("[-1,8]", 0), "[?,8]");
  EXPECT_EQ(reshaped("[16]", 4), "[?,16]");
  EXPECT_EQ(reshaped("[0]", 4),
            "openvino backend does not support dimensions values other than `-1` or positive "
            "integers");
}

}  // namespace
}  // namespace nereid_backend
