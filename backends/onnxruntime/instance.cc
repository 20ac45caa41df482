#include "backends/onnxruntime/instance.h"

#include <algorithm>

#include "backends/onnxruntime/ort_error.h"
#include "backends/sdk/state.h"

namespace nereid_backend {
namespace {

bool IsAligned(const char* address, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(address) & (alignment - 1)) == 0;
}

}  // namespace

OnnxInstance::OnnxInstance(const OnnxModel& model)
    : model_(model),
      batching_(model.config().batching()),
      memory_(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault)),
      run_options_(model.NewRunOptions()),
      scratch_(model.inputs().size()) {
  for (const BoundTensor& input : model.inputs()) input_names_.push_back(input.name.c_str());
}

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
  prepared_.resize(std::max(prepared_.size(), batch->size()));
  Group waiting;
  for (size_t i = 0; i < batch->size(); ++i) {
    const Error error = Prepare(batch, i);
    if (error.ok()) {
      waiting.push_back(i);
    } else {
      batch->Fail(i, error);
    }
  }
  while (!waiting.empty()) {
    Group group;
    Group rest;
    for (const size_t i : waiting) {
      const bool joins = group.empty() || (batching_ && SameShapes(group[0], i));
      (joins ? group : rest).push_back(i);
    }
    const Error error = RunGroup(batch, group);
    for (const size_t i : group) {
      if (!error.ok() && batch->live(i)) batch->Fail(i, error);
    }
    waiting = std::move(rest);
  }
  return Error();
}

Error OnnxInstance::Prepare(Batch* batch, size_t i) {
  Prepared& prepared = prepared_[i];
  prepared.inputs.resize(model_.inputs().size());
  for (size_t k = 0; k < prepared.inputs.size(); ++k) {
    const BoundTensor& tensor = model_.inputs()[k];
    NB_RETURN_IF_ERROR(PrepareInput(tensor, batch->request(i), &prepared.inputs[k]));
    if (!batching_) continue;
    const int64_t rows = prepared.inputs[k].view.dims[0];
    if (k == 0) batch->set_rows(i, rows);
    if (rows != batch->rows(i)) {
      return Error::InvalidArg(StrCat("input '", tensor.name, "' has ", rows, " rows, but input '",
                                      model_.inputs()[0].name, "' has ", batch->rows(i)));
    }
  }
  prepared.wanted.assign(model_.outputs().size(), false);
  for (size_t k = 0; k < model_.outputs().size(); ++k) {
    const BoundTensor& output = model_.outputs()[k];
    prepared.wanted[k] = output.is_output && WantsOutput(batch->request(i), output.name);
  }
  return Error();
}

bool OnnxInstance::SameShapes(size_t a, size_t b) const {
  for (size_t k = 0; k < model_.inputs().size(); ++k) {
    const InputView& left = prepared_[a].inputs[k].view;
    const InputView& right = prepared_[b].inputs[k].view;
    if (left.dim_count != right.dim_count) return false;
    if (!std::equal(left.dims + 1, left.dims + left.dim_count, right.dims + 1)) return false;
  }
  return true;
}

Error OnnxInstance::RunGroup(Batch* batch, const Group& group) {
  int64_t rows = 0;
  for (const size_t i : group) rows += batch->rows(i);
  NB_RETURN_IF_ERROR(PlanOutputs(batch, group, rows));
  Error error = OrtTry("", [&]() -> Error {
    MakeInputs(group, rows);
    batch->MarkComputeStart();
    NB_RETURN_IF_ERROR(RunOrReplan(batch, group, rows));
    batch->MarkComputeEnd();
    for (size_t k = 0; k < planned_.size(); ++k) {
      NB_RETURN_IF_ERROR(SendOutput(batch, group, rows, k));
    }
    return Error();
  });
  // The tensors point into requests and responses that are about to go.
  input_values_.clear();
  output_values_.clear();
  return error;
}

void OnnxInstance::MakeInputs(const Group& group, int64_t rows) {
  input_values_.clear();
  std::vector<const PreparedInput*> parts;
  for (size_t k = 0; k < model_.inputs().size(); ++k) {
    parts.clear();
    for (const size_t i : group) parts.push_back(&prepared_[i].inputs[k]);
    input_values_.push_back(
        MakeInputValue(model_.inputs()[k], batching_, rows, parts, memory_, &scratch_[k]));
  }
}

Error OnnxInstance::PlanOutputs(Batch* batch, const Group& group, int64_t rows) {
  planned_.clear();
  const bool alone = group.size() == 1;
  const bool trusted = model_.shape_trust() == OnnxModel::ShapeTrust::kConfirmed;
  for (size_t k = 0; k < model_.outputs().size(); ++k) {
    const BoundTensor& tensor = model_.outputs()[k];
    const bool wanted =
        std::any_of(group.begin(), group.end(), [&](size_t i) { return prepared_[i].wanted[k]; });
    if (!wanted && !tensor.is_state) continue;
    PlannedOutput planned;
    planned.tensor = &tensor;
    planned.index = k;
    if (alone && wanted && trusted && tensor.predictable) {
      const Shape shape = PredictedShape(tensor, batching_, rows);
      planned.reserved_size =
          static_cast<size_t>(ElementCount(shape.data(), shape.size())) * tensor.element_size;
      NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch->Response(group[0]));
      NB_ASSIGN_OR_RETURN(
          planned.reserved,
          AllocateOutput(response, tensor.name.c_str(), tensor.type, shape.data(),
                         static_cast<uint32_t>(shape.size()), planned.reserved_size));
      planned.in_place = IsAligned(planned.reserved, tensor.element_size);
    }
    planned_.push_back(planned);
  }
  return Error();
}

Error OnnxInstance::RunOrReplan(Batch* batch, const Group& group, int64_t rows) {
  Error error = Run(rows);
  const bool in_place = std::any_of(planned_.begin(), planned_.end(),
                                    [](const PlannedOutput& output) { return output.in_place; });
  if (error.ok() || error.code() != TRITONSERVER_ERROR_INVALID_ARG || !in_place) return error;
  // Perhaps an output did not fit the place made for it: once more, in places that the runtime
  // makes. If that works the shapes are learned anew.
  model_.set_shape_trust(OnnxModel::ShapeTrust::kUnknown);
  batch->DropResponse(group[0]);
  NB_RETURN_IF_ERROR(PlanOutputs(batch, group, rows));
  return Run(rows);
}

Error OnnxInstance::Run(int64_t rows) {
  output_names_.clear();
  output_values_.clear();
  for (const PlannedOutput& output : planned_) {
    output_names_.push_back(output.tensor->name.c_str());
    if (output.in_place) {
      output_values_.push_back(ViewOf(*output.tensor, memory_, output.reserved,
                                      output.reserved_size,
                                      PredictedShape(*output.tensor, batching_, rows)));
    } else {
      output_values_.emplace_back(nullptr);
    }
  }
  if (planned_.empty()) return Error();
  Error error = OrtTry("", [&]() -> Error {
    model_.session().Run(run_options_, input_names_.data(), input_values_.data(),
                         input_values_.size(), output_names_.data(), output_values_.data(),
                         output_values_.size());
    return Error();
  });
  if (error.ok() && model_.shape_trust() == OnnxModel::ShapeTrust::kUnknown) LearnShapes(rows);
  return error;
}

void OnnxInstance::LearnShapes(int64_t rows) {
  for (size_t k = 0; k < planned_.size(); ++k) {
    const BoundTensor& tensor = *planned_[k].tensor;
    if (!tensor.predictable) continue;
    const Shape actual = output_values_[k].GetTensorTypeAndShapeInfo().GetShape();
    if (actual != PredictedShape(tensor, batching_, rows)) {
      model_.set_shape_trust(OnnxModel::ShapeTrust::kRefuted);
      return;
    }
  }
  model_.set_shape_trust(OnnxModel::ShapeTrust::kConfirmed);
}

Error OnnxInstance::SendOutput(Batch* batch, const Group& group, int64_t rows, size_t k) {
  const PlannedOutput& output = planned_[k];
  if (output.in_place && !output.tensor->is_state) return Error();  // it is where it belongs
  NB_ASSIGN_OR_RETURN(const OutputSlicer slicer,
                      OutputSlicer::Create(*output.tensor, batching_, rows, output_values_[k]));
  int64_t first = 0;
  for (const size_t i : group) {
    // A failure here stays with its request; the others go on.
    const Error error = SendSlice(batch, i, output, slicer, first);
    first += batch->rows(i);
    if (!error.ok() && batch->live(i)) batch->Fail(i, error);
  }
  return Error();
}

Error OnnxInstance::SendSlice(Batch* batch, size_t i, const PlannedOutput& output,
                              const OutputSlicer& slicer, int64_t first) {
  const BoundTensor& tensor = *output.tensor;
  const int64_t rows = batch->rows(i);
  if (!batch->live(i)) return Error();
  if (tensor.is_state) {
    const Shape shape = slicer.SliceShape(rows);
    NB_RETURN_IF_ERROR(
        UpdateState(batch->request(i), tensor.name.c_str(), tensor.type, shape.data(),
                    static_cast<uint32_t>(shape.size()), slicer.SliceSize(first, rows),
                    [&](char* destination) { slicer.CopySlice(first, rows, destination); }));
  }
  if (!prepared_[i].wanted[output.index] || output.in_place) return Error();
  char* destination = output.reserved;
  if (destination == nullptr) {
    const Shape shape = slicer.SliceShape(rows);
    NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch->Response(i));
    NB_ASSIGN_OR_RETURN(
        destination,
        AllocateOutput(response, tensor.name.c_str(), tensor.type, shape.data(),
                       static_cast<uint32_t>(shape.size()), slicer.SliceSize(first, rows)));
  }
  slicer.CopySlice(first, rows, destination);
  return Error();
}

}  // namespace nereid_backend
