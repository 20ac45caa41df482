// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/instance.h"

#include "backends/onnxruntime/ort_error.h"
#include "backends/onnxruntime/tensor_io.h"

namespace nereid_backend {

OnnxInstance::OnnxInstance(const OnnxModel& model)
    : model_(model),
      memory_(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault)),
      run_options_(model.NewRunOptions()),
      watched_(model.environment().watch(), model.terminates_late_runs(),
               [this] { run_options_.SetTerminate(); }),
      executor_(model.bound(), GraphExecutor::Outputs::kInPlace) {}

Result<std::unique_ptr<OnnxInstance>> OnnxInstance::Create(TRITONBACKEND_ModelInstance*,
                                                           const OnnxModel& model) {
  std::unique_ptr<OnnxInstance> instance;
  NB_RETURN_IF_ERROR(OrtTry("failed to set up an instance: ", [&]() -> Error {
    instance.reset(new OnnxInstance(model));
    return Error();
  }));
  return instance;
}

Error OnnxInstance::Execute(Batch* batch) {
  executor_.Begin(batch);
  while (executor_.Next()) {
    executor_.End(Compute());
    // The tensors point into requests and responses that are about to be released.
    input_values_.clear();
    output_values_.clear();
  }
  return Error();
}

Error OnnxInstance::Compute() {
  return OrtTry("", [&]() -> Error {
    MakeInputs();
    executor_.batch().MarkComputeStart();
    Error ran = RunWatched();
    if (IsOutputMismatch(ran) && executor_.Replan()) {
      // Repeats the run with buffers made by the runtime; the shapes are learned anew.
      model_.bound().set_shape_trust(BoundModel::ShapeTrust::kUnknown);
      ran = RunWatched();
    }
    executor_.batch().MarkComputeEnd();
    if (ran.ok()) TakeOutputs();
    return ran;
  });
}

void OnnxInstance::MakeInputs() {
  input_names_.clear();
  input_values_.clear();
  for (RunInput& input : executor_.inputs()) {
    input_names_.push_back(input.tensor->name.c_str());
    input_values_.push_back(MakeInputValue(memory_, &input));
  }
}

void OnnxInstance::MakeOutputs() {
  output_names_.clear();
  output_values_.clear();
  for (const RunOutput& output : executor_.outputs()) {
    output_names_.push_back(output.tensor->name.c_str());
    if (output.place != nullptr) {
      output_values_.push_back(MakePlaceValue(memory_, output));
    } else {
      output_values_.emplace_back(nullptr);
    }
  }
}

Error OnnxInstance::Run() {
  MakeOutputs();
  if (output_names_.empty()) return Error();  // no output is requested
  return OrtTry("", [&]() -> Error {
    model_.session().Run(run_options_, input_names_.data(), input_values_.data(),
                         input_values_.size(), output_names_.data(), output_values_.data(),
                         output_values_.size());
    return Error();
  });
}

Error OnnxInstance::RunWatched() {
  watched_.Begin(executor_.requests());
  Error ran = Run();
  if (!watched_.End()) return ran;
  run_options_.UnsetTerminate();
  // The run may have finished anyway.
  return ran.ok() ? std::move(ran) : StoppedRun(model_.config().name);
}

void OnnxInstance::TakeOutputs() {
  for (size_t k = 0; k < output_values_.size(); ++k) {
    RunOutput& output = executor_.outputs()[k];
    // A result in its given buffer has the requested shape.
    if (output.place != nullptr) {
      output.data = output.place;
    } else {
      TakeOutputValue(output_values_[k], &output);
    }
  }
}

}  // namespace nereid_backend
