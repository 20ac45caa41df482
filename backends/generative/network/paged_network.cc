// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/network/paged_network.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <openvino/op/constant.hpp>
#include <openvino/op/gather.hpp>
#include <openvino/op/matmul.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/pass/sdpa_to_paged_attention.hpp>
#include <set>

#include "backends/generative/network/setup_mutex.h"
#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {
namespace {

constexpr const char* kRows = "sampled_rows";

bool IsCache(const std::string& name) {
  return name.starts_with("key_cache.") || name.starts_with("value_cache.");
}

bool HasInput(const ov::Model& graph, const std::string& name) {
  const auto inputs = graph.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const auto& input) { return input.get_names().contains(name); });
}

ov::Shape CacheShape(const ov::PartialShape& open, int32_t blocks) {
  ov::Shape shape{static_cast<size_t>(blocks)};
  for (size_t i = 1; i < open.size(); ++i) {
    shape.push_back(static_cast<size_t>(open[static_cast<int64_t>(i)].get_length()));
  }
  return shape;
}

// Lets the network compute logits for the rows that a new input names, and for no others.
void SampleRows(ov::Model* graph) {
  const auto rows = std::make_shared<ov::op::v0::Parameter>(ov::element::i64, ov::PartialShape{-1});
  rows->set_friendly_name(kRows);
  rows->output(0).set_names({kRows});
  const auto result = graph->get_results()[0];
  const auto last = result->get_input_node_shared_ptr(0);
  // Other networks do something with the logits, and get the rows after that.
  const bool is_product = ov::is_type<ov::op::v0::MatMul>(last);
  ov::Input<ov::Node> taker = is_product ? last->input(0) : result->input(0);
  const auto gather = std::make_shared<ov::op::v8::Gather>(
      taker.get_source_output(), rows, ov::op::v0::Constant::create(ov::element::i64, {}, {0}));
  taker.replace_source_output(gather);
  graph->add_parameters({rows});
  graph->validate_nodes_and_infer_types();
}

template <typename T>
void Set(ov::InferRequest* request, const char* name, const std::vector<T>& values) {
  ov::Tensor tensor(ov::element::from<T>(), {values.size()});
  std::copy(values.begin(), values.end(), tensor.data<T>());
  request->set_tensor(name, tensor);
}

}  // namespace

PagedModel::~PagedModel() {
  const std::lock_guard lock(SetupMutex());
  graph_.reset();
  caches_.clear();
  compiled_ = ov::CompiledModel();
}

Result<std::unique_ptr<PagedModel>> PagedModel::Load(const std::string& path,
                                                     const PagedModelOptions& options) {
  std::unique_ptr<PagedModel> model(new PagedModel());
  NB_RETURN_IF_ERROR(OvTry(StrCat("failed to load '", path, "': "), [&]() -> Error {
    ov::Core core;
    // A mapped file that is truncated while being replaced would crash the process.
    core.set_property(ov::enable_mmap(false));
    NB_RETURN_IF_ERROR(model->Page(path, &core));
    NB_RETURN_IF_ERROR(model->Compile(options, &core));
    return model->MeasureBlocks();
  }));
  return model;
}

Error PagedModel::Page(const std::string& path, ov::Core* core) {
  graph_ = core->read_model(path);
  for (const char* name : {"input_ids", "attention_mask", "beam_idx"}) {
    if (HasInput(*graph_, name)) continue;
    return Error::InvalidArg(
        StrCat("'", path, "' has no input '", name,
               "': expected a decoder with states, as optimum exports language models"));
  }
  ov::pass::SDPAToPagedAttention().run_on_model(graph_);
  const ov::Output<ov::Node> logits = graph_->output(0);
  if (graph_->outputs().size() != 1 || logits.get_element_type() != ov::element::f32) {
    return Error::InvalidArg(
        StrCat("'", path, "' has ", graph_->outputs().size(), " outputs, the first of type ",
               logits.get_element_type().get_type_name(), ": expected one, of logits in f32"));
  }
  SampleRows(graph_.get());
  return Error();
}

Error PagedModel::Compile(const PagedModelOptions& options, ov::Core* core) {
  const std::lock_guard lock(SetupMutex());
  const ov::element::Type precision = options.precision.empty()
                                          ? core->get_property("CPU", ov::hint::inference_precision)
                                          : ov::element::Type(options.precision);
  ov::AnyMap properties = {
      ov::hint::inference_precision(precision),
      // Not quantised: what a token reads must not depend on the step that wrote it.
      ov::hint::kv_cache_precision(precision),
      ov::inference_num_threads(options.threads),
      ov::hint::enable_cpu_pinning(false),
  };
  if (precision == ov::element::f32) {
    properties.insert(ov::hint::dynamic_quantization_group_size(0));
  }
  compiled_ = core->compile_model(graph_, "CPU", properties);
  graph_.reset();
  precision_ = precision.get_type_name();
  return Error();
}

Error PagedModel::MeasureBlocks() {
  static const std::set<std::string> kKnown = {
      "input_ids",     "position_ids",         "past_lens",       "subsequence_begins",
      "block_indices", "block_indices_begins", "max_context_len", kRows};
  for (const auto& input : compiled_.inputs()) {
    const std::string name = input.get_any_name();
    if (name == "position_ids") has_positions_ = true;
    if (!IsCache(name)) {
      if (kKnown.contains(name)) continue;
      return Error::InvalidArg(
          StrCat("the network has an input '", name,
                 "': expected input_ids, attention_mask, position_ids and beam_idx"));
    }
    caches_.push_back(input);
    const ov::PartialShape& shape = input.get_partial_shape();
    const ov::Shape one = CacheShape(shape, 1);
    block_bytes_ += static_cast<int64_t>(ov::shape_size(one) * input.get_element_type().size());
    if (shape.size() != 4 || (block_size_ != 0 && block_size_ != static_cast<int32_t>(one[2]))) {
      return Error::Internal(StrCat("the network keeps '", name, "' in blocks of shape ",
                                    shape.to_string(), ": expected 4 dimensions, the third of ",
                                    block_size_, " tokens"));
    }
    block_size_ = static_cast<int32_t>(one[2]);
  }
  if (caches_.empty()) return Error::InvalidArg("the network has no attention with states");
  const ov::PartialShape logits = compiled_.output(0).get_partial_shape();
  if (logits.rank().is_static() && logits[logits.size() - 1].is_static()) {
    vocabulary_ = logits[logits.size() - 1].get_length();
  }
  return Error();
}

PagedNetwork::PagedNetwork(const PagedModel& model, int32_t blocks)
    : model_(model), request_(model.compiled_.create_infer_request()) {
  for (const auto& cache : model_.caches_) {
    ov::Tensor tensor(cache.get_element_type(), CacheShape(cache.get_partial_shape(), blocks));
    std::memset(tensor.data(), 0, tensor.get_byte_size());
    request_.set_tensor(cache, tensor);
  }
}

PagedNetwork::~PagedNetwork() {
  const std::lock_guard lock(SetupMutex());
  request_ = ov::InferRequest();
}

Result<std::unique_ptr<PagedNetwork>> PagedNetwork::Create(const PagedModel& model,
                                                           int32_t blocks) {
  std::unique_ptr<PagedNetwork> network;
  NB_RETURN_IF_ERROR(OvTry("failed to set up an instance: ", [&]() -> Error {
    const std::lock_guard lock(SetupMutex());
    network.reset(new PagedNetwork(model, blocks));
    return Error();
  }));
  const Token token = 0;
  const int32_t block = 0;
  Step first;
  first.parts.push_back({.tokens = {&token, 1}, .blocks = {&block, 1}, .is_last = true});
  NB_RETURN_IF_ERROR(network->Compute(first));
  return network;
}

Error PagedNetwork::Compute(const Step& step) {
  return OvTry("", [&]() -> Error {
    SetInputs(step);
    request_.infer();
    const ov::Tensor logits = request_.get_output_tensor(0);
    row_ = logits.get_shape().back();
    logits_ = {logits.data<const float>(), logits.get_size()};
    return Error();
  });
}

void PagedNetwork::SetInputs(const Step& step) {
  std::vector<int64_t> ids, positions, rows;
  std::vector<int32_t> pasts, blocks, begins{0}, block_begins{0};
  int64_t longest = 0;
  for (const StepPart& part : step.parts) {
    const auto count = static_cast<int64_t>(part.tokens.size());
    ids.insert(ids.end(), part.tokens.begin(), part.tokens.end());
    positions.resize(ids.size());
    std::iota(positions.end() - count, positions.end(), part.past);
    pasts.push_back(static_cast<int32_t>(part.past));
    begins.push_back(static_cast<int32_t>(ids.size()));
    blocks.insert(blocks.end(), part.blocks.begin(), part.blocks.end());
    block_begins.push_back(static_cast<int32_t>(blocks.size()));
    longest = std::max(longest, part.past + count);
    if (part.is_last) rows.push_back(static_cast<int64_t>(ids.size()) - 1);
  }
  if (rows.empty()) rows.push_back(0);  // kernels want a row
  Set(&request_, "input_ids", ids);
  if (model_.has_positions_) Set(&request_, "position_ids", positions);
  Set(&request_, "past_lens", pasts);
  Set(&request_, "subsequence_begins", begins);
  Set(&request_, "block_indices", blocks);
  Set(&request_, "block_indices_begins", block_begins);
  Set(&request_, kRows, rows);
  ov::Tensor context(ov::element::i32, ov::Shape{});
  *context.data<int32_t>() = static_cast<int32_t>(longest);
  request_.set_tensor("max_context_len", context);
}

std::span<const float> PagedNetwork::Logits(size_t index) const {
  return logits_.subspan(index * row_, row_);
}

}  // namespace nereid_backend
