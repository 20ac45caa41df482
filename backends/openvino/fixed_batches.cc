// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/fixed_batches.h"

#include <algorithm>
#include <openvino/op/constant.hpp>

namespace nereid_backend {
namespace {

constexpr size_t kMostCopiedBytes = size_t{32} << 20;

bool OnlyBatchIsVariable(const ov::PartialShape& shape) {
  return shape.rank().is_static() && shape.size() > 0 && shape[0].is_dynamic() &&
         std::all_of(shape.begin() + 1, shape.end(),
                     [](const ov::Dimension& dim) { return dim.is_static(); });
}

size_t WeightBytes(const ov::Model& graph) {
  size_t bytes = 0;
  for (const auto& node : graph.get_ops()) {
    const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node);
    if (constant != nullptr) bytes += constant->get_byte_size();
  }
  return bytes;
}

std::string WhyNone(const ModelConfig& config, const BoundModel& bound, const ov::Model& graph,
                    bool one_at_a_time) {
  if (!config.batching()) return "the model does not batch";
  if (!graph.get_variables().empty()) return "the model has states";
  if (!one_at_a_time) return "several batches run at a time, whose threads all graphs would have";
  const auto inputs = graph.inputs();
  const bool fixed = std::all_of(inputs.begin(), inputs.end(), [](const auto& input) {
    return OnlyBatchIsVariable(input.get_partial_shape());
  });
  if (!fixed) return "inputs have other variable dimensions than the batch";
  const bool rows_only = bound.computed_inputs().empty() &&
                         std::none_of(bound.inputs().begin(), bound.inputs().end(),
                                      [](const BoundTensor& input) { return input.ragged; });
  return rows_only ? "" : "the batch's size is not the first dimension of all inputs";
}

}  // namespace

Result<std::vector<int64_t>> ChooseFixedBatchSizes(const CompileRequest& request,
                                                   const ModelConfig& config,
                                                   const BoundModel& bound, const ov::Model& graph,
                                                   bool one_at_a_time, std::string* why_not) {
  *why_not = WhyNone(config, bound, graph, one_at_a_time);
  if (!why_not->empty()) return std::vector<int64_t>();
  std::vector<int64_t> sizes;
  if (request.fixed_batch_sizes.has_value()) {
    sizes = *request.fixed_batch_sizes;
  } else if (WeightBytes(graph) <= kMostCopiedBytes) {
    sizes = {1, config.max_batch_size};
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.empty() || sizes.back() <= config.max_batch_size) return sizes;
  return Error::InvalidArg(StrCat("unable to load model '", config.name,
                                  "': parameter 'FIXED_BATCH_SIZES' asks for ", sizes.back(),
                                  ", but max_batch_size is ", config.max_batch_size));
}

}  // namespace nereid_backend
