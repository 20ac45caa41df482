// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/initial_states.h"

#include <cstring>
#include <openvino/op/util/read_value_base.hpp>
#include <openvino/runtime/properties.hpp>

namespace nereid_backend {
namespace {

ov::Tensor Zeros(const ov::element::Type& type, const ov::PartialShape& declared, size_t rows) {
  ov::Shape shape;
  for (size_t i = 0; i < declared.size(); ++i) {
    const bool is_static = declared[i].is_static();
    shape.push_back(is_static ? static_cast<size_t>(declared[i].get_length())
                              : (i == 0 ? rows : 0));
  }
  ov::Tensor zeros(type, shape);
  if (zeros.get_byte_size() > 0) std::memset(zeros.data(), 0, zeros.get_byte_size());
  return zeros;
}

}  // namespace

Result<std::unique_ptr<InitialStates>> InitialStates::Create(const ov::Model& graph,
                                                             ov::Core* core) {
  std::unique_ptr<InitialStates> states(new InitialStates());
  const std::shared_ptr<ov::Model> whole = graph.clone();
  ov::OutputVector values;
  for (const auto& node : whole->get_ordered_ops()) {
    const auto read = ov::as_type_ptr<ov::op::util::ReadValueBase>(node);
    if (read == nullptr) continue;
    const ov::op::util::VariableInfo info = read->get_variable()->get_info();
    Start start{values.size(), read->get_input_size() > 0, info.data_shape, info.data_type};
    if (start.computed) values.push_back(read->input_value(0));
    if (!start.computed && info.data_shape.rank().is_dynamic()) {
      return Error::Unsupported(
          StrCat("state '", info.variable_id, "' has no shape to begin with"));
    }
    states->starts_[info.variable_id] = start;
  }
  for (const auto& variable : graph.get_variables()) {
    const std::string& name = variable->get_info().variable_id;
    if (states->starts_.count(name) > 0) continue;
    return Error::Unsupported(StrCat("state '", name, "' is read inside of an operator"));
  }
  states->has_computed_ = !values.empty();
  if (values.empty()) return states;
  const auto part = std::make_shared<ov::Model>(values, "initial_states");
  if (!part->get_variables().empty()) {
    return Error::Unsupported("a state begins with what another state holds");
  }
  for (const auto& input : part->get_parameters()) {
    states->inputs_.push_back(static_cast<size_t>(whole->get_parameter_index(input)));
  }
  states->compiled_ = core->compile_model(
      part, "CPU",
      ov::AnyMap{ov::inference_num_threads(1), ov::hint::enable_cpu_pinning(false),
                 ov::hint::inference_precision(ov::element::f32)});
  return states;
}

ov::InferRequest InitialStates::NewRequest() const {
  return has_computed_ ? compiled_.create_infer_request() : ov::InferRequest();
}

std::vector<ov::Tensor> InitialStates::Compute(const std::vector<std::string>& names, size_t rows,
                                               ov::InferRequest* run,
                                               ov::InferRequest* request) const {
  if (has_computed_) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      request->set_input_tensor(i, run->get_input_tensor(inputs_[i]));
    }
    request->infer();
  }
  std::vector<ov::Tensor> values;
  for (const std::string& name : names) {
    const Start& start = starts_.at(name);
    values.push_back(start.computed ? request->get_output_tensor(start.output)
                                    : Zeros(start.type, start.shape, rows));
  }
  return values;
}

}  // namespace nereid_backend
