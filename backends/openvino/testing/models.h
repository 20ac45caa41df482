// SPDX-License-Identifier: Apache-2.0
// Small OpenVINO models for tests, and a folder to load them from.
#ifndef NEREID_BACKENDS_OPENVINO_TESTING_MODELS_H_
#define NEREID_BACKENDS_OPENVINO_TESTING_MODELS_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <openvino/core/graph_util.hpp>
#include <openvino/core/model.hpp>
#include <openvino/op/util/variable.hpp>
#include <openvino/opsets/opset15.hpp>
#include <string>

namespace nereid_backend::testing {

namespace op = ov::opset15;

inline std::shared_ptr<op::Parameter> Input(const std::string& name, ov::element::Type type,
                                            const ov::PartialShape& shape) {
  auto input = std::make_shared<op::Parameter>(type, shape);
  input->output(0).set_names({name});
  return input;
}

inline std::shared_ptr<op::Result> Output(const std::string& name, const ov::Output<ov::Node>& of) {
  auto result = std::make_shared<op::Result>(of);
  result->output(0).set_names({name});
  return result;
}

inline ov::Output<ov::Node> Number(int32_t value) {
  return op::Constant::create(ov::element::i32, ov::Shape{1, 1}, {value});
}

inline ov::Output<ov::Node> Row(int32_t value) {
  return op::Constant::create(ov::element::i32, ov::Shape{1}, {value});
}

// Y = X + 1, INT32 with the given shape.
inline std::shared_ptr<ov::Model> PlusOne(const ov::PartialShape& shape) {
  const auto x = Input("X", ov::element::i32, shape);
  const auto one = op::Constant::create(ov::element::i32, ov::Shape{}, {1});
  return std::make_shared<ov::Model>(
      ov::ResultVector{Output("Y", std::make_shared<op::Add>(x, one))}, ov::ParameterVector{x});
}

// A network of X alone with the given type: input and output are one tensor.
inline std::shared_ptr<ov::Model> Same(ov::element::Type type, const ov::PartialShape& shape) {
  const auto x = Input("X", type, shape);
  return std::make_shared<ov::Model>(ov::ResultVector{std::make_shared<op::Result>(x)},
                                     ov::ParameterVector{x});
}

// Y: the rows of X, INT32 [?, 1], repeated as many times as the largest number in X says.
inline std::shared_ptr<ov::Model> Repeated() {
  const auto x = Input("X", ov::element::i32, {-1, 1});
  const auto axes = op::Constant::create(ov::element::i32, ov::Shape{2}, {0, 1});
  const auto most = std::make_shared<op::ReduceMax>(x, axes, false);
  const auto shaped = std::make_shared<op::Reshape>(
      most, op::Constant::create(ov::element::i32, ov::Shape{1}, {1}), false);
  const auto one = op::Constant::create(ov::element::i32, ov::Shape{1}, {1});
  const auto repeats = std::make_shared<op::Concat>(ov::OutputVector{shaped, one}, 0);
  return std::make_shared<ov::Model>(
      ov::ResultVector{Output("Y", std::make_shared<op::Tile>(x, repeats))},
      ov::ParameterVector{x});
}

// Y: X, INT32 [?, 1], reshaped to as many rows as its first number says. The run fails if X has
// another number of rows.
inline std::shared_ptr<ov::Model> Reshaped() {
  const auto x = Input("X", ov::element::i32, {-1, 1});
  const auto first = std::make_shared<op::Slice>(
      x, Row(0), Row(1), Row(1), op::Constant::create(ov::element::i32, ov::Shape{1}, {0}));
  const auto rows = std::make_shared<op::Reshape>(first, Row(1), false);
  const auto shape = std::make_shared<op::Concat>(ov::OutputVector{rows, Row(1)}, 0);
  return std::make_shared<ov::Model>(
      ov::ResultVector{Output("Y", std::make_shared<op::Reshape>(x, shape, false))},
      ov::ParameterVector{x});
}

// Y = the sum of all X since the start, from 100 on: INT32 [batch, 1], with the state SUM.
inline std::shared_ptr<ov::Model> Accumulator(const ov::Dimension& batch) {
  const ov::PartialShape shape = {batch, 1};
  const auto x = Input("X", ov::element::i32, shape);
  const auto variable = std::make_shared<ov::op::util::Variable>(
      ov::op::util::VariableInfo{shape, ov::element::i32, "SUM"});
  const auto start = std::make_shared<op::Broadcast>(Number(100), std::make_shared<op::ShapeOf>(x));
  const auto sum = std::make_shared<op::Add>(x, std::make_shared<op::ReadValue>(start, variable));
  return std::make_shared<ov::Model>(ov::ResultVector{Output("Y", sum)},
                                     ov::SinkVector{std::make_shared<op::Assign>(sum, variable)},
                                     ov::ParameterVector{x});
}

// Y = X after `count` products with a matrix of ones divided by its size, which takes some time.
inline std::shared_ptr<ov::Model> Slow(int count, size_t size) {
  const auto x = Input("X", ov::element::f32, {-1, static_cast<int64_t>(size)});
  ov::Output<ov::Node> flow = x;
  const auto weight =
      op::Constant::create(ov::element::f32, ov::Shape{size, size},
                           std::vector<float>(size * size, 1.0F / static_cast<float>(size)));
  for (int i = 0; i < count; ++i) {
    // The sine between them keeps the products from being joined into one.
    flow = std::make_shared<op::Sin>(std::make_shared<op::MatMul>(flow, weight));
  }
  return std::make_shared<ov::Model>(ov::ResultVector{Output("Y", flow)}, ov::ParameterVector{x});
}

// Writes version 1 of a model and returns the model's folder.
inline std::string SaveModel(const std::string& name, const std::shared_ptr<ov::Model>& model) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "1");
  ov::save_model(model, folder / "1" / "model.xml", false);
  return folder.string();
}

}  // namespace nereid_backend::testing

#endif  // NEREID_BACKENDS_OPENVINO_TESTING_MODELS_H_
