// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/model.h"

#include <algorithm>
#include <openvino/core/model.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/runtime/properties.hpp>

#include "backends/openvino/fixed_batches.h"
#include "backends/openvino/model_file.h"
#include "backends/openvino/run_pool.h"
#include "backends/openvino/shapes.h"
#include "backends/openvino/signature.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/graph/autocomplete.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/loan.h"
#include "backends/sdk/log.h"
#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {
namespace {

size_t IndexOf(const std::vector<ModelTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const ModelTensor& tensor) { return tensor.name == name; });
  return static_cast<size_t>(found - tensors.begin());
}

// Looks at the graph that is executed, because it no longer has operators without effect.
bool HasOutputThatIsInput(const ov::CompiledModel& compiled) {
  const auto results = compiled.get_runtime_model()->get_results();
  return std::any_of(results.begin(), results.end(), [](const auto& result) {
    return ov::is_type<ov::op::v0::Parameter>(result->get_input_node_shared_ptr(0));
  });
}

}  // namespace

OpenVinoModel::OpenVinoModel(const Environment& environment, ModelConfig config)
    : environment_(environment), config_(std::move(config)) {}

OpenVinoModel::~OpenVinoModel() {
  const std::lock_guard lock(environment_.setup_mutex());
  pool_.reset();
  initial_states_.reset();
  fixed_batches_.clear();
  compiled_ = ov::CompiledModel();
}

ov::InferRequest OpenVinoModel::NewInferRequest() const { return compiled_.create_infer_request(); }

Result<std::unique_ptr<OpenVinoModel>> OpenVinoModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const Environment* environment, BackendStateOf<Environment>(handle));
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<OpenVinoModel> model(new OpenVinoModel(*environment, std::move(config)));
  NB_RETURN_IF_ERROR(model->Load(handle));
  return model;
}

Error OpenVinoModel::Load(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(path_, FindModelFile(config_));
  NB_ASSIGN_OR_RETURN(request_, CompileRequest::FromConfig(config_));
  NB_RETURN_IF_ERROR(Read());
  if (config_.auto_complete) NB_RETURN_IF_ERROR(AutoComplete(handle));
  NB_RETURN_IF_ERROR(CheckConfig(config_, signature_));
  NB_RETURN_IF_ERROR(CheckStates());
  NB_RETURN_IF_ERROR(DropUnservedOutputs());
  NB_RETURN_IF_ERROR(Compile());
  NB_ASSIGN_OR_RETURN(bound_, BoundModel::Bind(config_, signature_));
  FindPorts();
  NB_RETURN_IF_ERROR(MakePool());
  NB_RETURN_IF_ERROR(CompileFixedBatches());
  graph_.reset();
  // With a pool, Execute only starts a run, which OpenVINO's own threads compute.
  if (pool_ == nullptr) SayExecutesBriefly(handle);
  return OvTry("", [&]() -> Error {
    LogPlan();
    return Error();
  });
}

Error OpenVinoModel::Read() {
  NB_RETURN_IF_ERROR(OvTry(StrCat("failed to load '", path_, "': "), [&]() -> Error {
    core_ = environment_.core();
    if (!request_.extension.empty()) {
      // A runtime of its own, so that the extension's operators do not affect other models.
      core_ = Environment::NewCore();
      core_->add_extension(request_.extension);
      NB_LOG_INFO("model '", config_.name, "': CPU extension ", request_.extension, " is loaded");
    }
    graph_ = core_->read_model(path_);
    return Error();
  }));
  if (request_.reshape) NB_RETURN_IF_ERROR(ReshapeToConfig(config_, graph_.get()));
  NB_RETURN_IF_ERROR(OpenBatchDimension(config_, &graph_));
  return OvTry(StrCat("failed to load '", path_, "': "), [&]() -> Error {
    signature_ = ReadSignature(*graph_, config_);
    state_count_ = graph_->get_variables().size();
    return Error();
  });
}

Error OpenVinoModel::AutoComplete(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(
      const Json completed,
      AutoCompleteConfig(
          config_, signature_,
          FixedState().empty() ? environment_.settings().default_max_batch_size : 0));
  NB_RETURN_IF_ERROR(SetModelConfig(handle, completed));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(handle));
  return Error();
}

std::string OpenVinoModel::FixedState() const {
  for (const auto& variable : graph_->get_variables()) {
    const ov::PartialShape& shape = variable->get_info().data_shape;
    if (shape.rank().is_static() && shape.size() > 0 && shape[0].is_dynamic()) continue;
    return StrCat("'", variable->get_info().variable_id, "' has shape ", shape.to_string());
  }
  return "";
}

Error OpenVinoModel::CheckStates() const {
  const std::string fixed = FixedState();
  if (!config_.batching() || fixed.empty()) return Error();
  return Error::InvalidArg(
      StrCat("unable to load model '", config_.name, "': state ", fixed,
             " in the model, but max_batch_size ", config_.max_batch_size,
             " needs a first dimension that is variable (-1); set max_batch_size to 0"));
}

Error OpenVinoModel::DropUnservedOutputs() {
  return OvTry(StrCat("failed to load '", path_, "': "), [&]() -> Error {
    const ov::ResultVector results = graph_->get_results();
    std::vector<ModelTensor> served;
    ov::ResultVector unserved;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string& name = signature_.outputs[i].name;
      const bool is_state =
          std::any_of(config_.states.begin(), config_.states.end(),
                      [&](const StateConfig& state) { return state.output_name == name; });
      if (is_state || config_.FindOutput(name) != nullptr) {
        served.push_back(signature_.outputs[i]);
      } else {
        unserved.push_back(results[i]);
      }
    }
    if (served.empty()) return Error();  // a graph needs an output
    for (const auto& result : unserved) graph_->remove_result(result);
    signature_.outputs = std::move(served);
    return Error();
  });
}

Error OpenVinoModel::Compile() {
  return OvTry(StrCat("failed to compile '", path_, "': "), [&]() -> Error {
    const std::lock_guard lock(environment_.setup_mutex());
    if (has_states()) {
      NB_ASSIGN_OR_RETURN(initial_states_, InitialStates::Create(*graph_, core_.get()));
    }
    compiled_ = core_->compile_model(graph_, "CPU", request_.Build(environment_));
    passes_inputs_through_ = HasOutputThatIsInput(compiled_);
    return Error();
  });
}

void OpenVinoModel::FindPorts() {
  for (const BoundTensor& input : bound_->inputs()) {
    input_ports_.push_back(IndexOf(signature_.inputs, input.name));
  }
  for (const ComputedInput& input : bound_->computed_inputs()) {
    input_ports_.push_back(IndexOf(signature_.inputs, input.tensor.name));
  }
  for (const BoundTensor& output : bound_->outputs()) {
    output_ports_.push_back(IndexOf(signature_.outputs, output.name));
  }
}

// No pool for sequences, because a request needs the state that the previous one left; and none for
// a network with states, because its infer request holds them.
Error OpenVinoModel::MakePool() {
  return OvTry(StrCat("failed to set up '", path_, "': "), [&]() -> Error {
    const std::lock_guard lock(environment_.setup_mutex());
    const uint32_t at_once = compiled_.get_property(ov::optimal_number_of_infer_requests);
    if (at_once > 1 && !has_states() && !has_sequences()) {
      pool_ = std::make_unique<RunPool>(*this, at_once);
    }
    return Error();
  });
}

Error OpenVinoModel::CompileFixedBatches() {
  std::string why_not;
  NB_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                      ChooseFixedBatchSizes(request_, config_, *bound_, *graph_,
                                            /*one_at_a_time=*/pool_ == nullptr, &why_not));
  if (!why_not.empty() && request_.fixed_batch_sizes.has_value()) {
    NB_LOG_INFO("model '", config_.name,
                "': parameter 'FIXED_BATCH_SIZES' has no effect: ", why_not);
  }
  const std::lock_guard lock(environment_.setup_mutex());
  for (const int64_t rows : sizes) {
    const Error error = OvTry("", [&]() -> Error {
      FixedBatch batch{rows, core_->compile_model(WithFirstDimension(*graph_, rows), "CPU",
                                                  request_.Build(environment_))};
      passes_inputs_through_ = passes_inputs_through_ || HasOutputThatIsInput(batch.compiled);
      fixed_batches_.push_back(std::move(batch));
      return Error();
    });
    if (error.ok()) continue;
    NB_LOG_INFO("model '", config_.name, "': there is no graph for batches of ", rows,
                " rows, which run as all others: ", error.message());
  }
  return Error();
}

void OpenVinoModel::LogPlan() const {
  const int streams = compiled_.get_property(ov::num_streams);
  const int threads = compiled_.get_property(ov::inference_num_threads);
  const ov::element::Type precision = compiled_.get_property(ov::hint::inference_precision);
  const std::string at_once = pool_ != nullptr ? StrCat(pool_->size(), " batches at a time")
                                               : "one batch at a time in each instance";
  const std::string choice = request_.precision.has_value()
                                 ? ""
                                 : ", OpenVINO's choice (INFERENCE_PRECISION_HINT sets it)";
  std::string fixed;
  for (const FixedBatch& batch : fixed_batches_) {
    fixed += StrCat(fixed.empty() ? "" : ",", batch.rows);
  }
  NB_LOG_INFO("model '", config_.name, "' version ", config_.version, ": threads: ", threads, " (",
              environment_.budget().Describe(), "), streams: ", streams, ", ", at_once,
              "; FP32 is computed in ", precision.get_type_name(), choice,
              "; states: ", state_count_, "; fixed batch sizes: ", fixed.empty() ? "none" : fixed,
              compiled_.get_property(ov::loaded_from_cache) ? "; from the cache" : "");
}

}  // namespace nereid_backend
