#include "backends/onnxruntime/instance.h"

#include <algorithm>

#include "backends/onnxruntime/ort_error.h"
#include "backends/sdk/batch_output.h"
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
      scratch_(model.inputs().size() + model.computed_inputs().size()) {}

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
    NB_RETURN_IF_ERROR(PrepareInput(model_.inputs()[k], batch->request(i), &prepared.inputs[k]));
  }
  if (batching_) NB_RETURN_IF_ERROR(PrepareRows(batch, i));
  for (const BoundTensor& output : model_.outputs()) {
    if (output.scatter_by.has_value()) NB_RETURN_IF_ERROR(CheckScattered(i, output));
  }
  prepared.wanted.assign(model_.outputs().size(), false);
  for (size_t k = 0; k < model_.outputs().size(); ++k) {
    const BoundTensor& output = model_.outputs()[k];
    prepared.wanted[k] = output.is_output && WantsOutput(batch->request(i), output.name);
  }
  return Error();
}

Error OnnxInstance::PrepareRows(Batch* batch, size_t i) {
  const std::vector<PreparedInput>& inputs = prepared_[i].inputs;
  const PreparedInput* first = nullptr;
  for (const PreparedInput& input : inputs) {
    if (!input.present) continue;
    const int64_t rows = input.view.dims[0];
    if (first == nullptr) {
      first = &input;
      batch->set_rows(i, rows);
    }
    if (rows != batch->rows(i)) {
      return Error::InvalidArg(StrCat("input '", input.view.name, "' has ", rows,
                                      " rows, but input '", first->view.name, "' has ",
                                      batch->rows(i)));
    }
  }
  return Error();
}

Error OnnxInstance::CheckScattered(size_t i, const BoundTensor& output) const {
  const std::string& source = model_.inputs()[*output.scatter_by].name;
  if (!prepared_[i].inputs[*output.scatter_by].present) {
    return Error::InvalidArg(
        StrCat("input '", source, "' is needed to cut output '", output.name, "'"));
  }
  // Empty tensors may have any other dims: the sum over a batch has to fit too.
  constexpr int64_t kMost = int64_t{1} << 48;
  const Shape shape =
      ScatteredShape(output.scatter_dims, batching_, ShapeOf(i, *output.scatter_by));
  const int64_t count = ElementCount(shape.data(), shape.size());
  if (count >= 0 && count <= kMost) return Error();
  return Error::InvalidArg(StrCat("input '", source, "' gives output '", output.name,
                                  "' the shape ", ShapeToString(shape), ", which is too large"));
}

bool OnnxInstance::SameShapes(size_t a, size_t b) const {
  for (size_t k = 0; k < model_.inputs().size(); ++k) {
    const PreparedInput& left = prepared_[a].inputs[k];
    const PreparedInput& right = prepared_[b].inputs[k];
    if (left.present != right.present) return false;
    if (!left.present || model_.inputs()[k].ragged) continue;
    if (left.view.dim_count != right.view.dim_count) return false;
    if (!std::equal(left.view.dims + 1, left.view.dims + left.view.dim_count,
                    right.view.dims + 1)) {
      return false;
    }
  }
  return true;
}

Error OnnxInstance::RunGroup(Batch* batch, const Group& group) {
  int64_t rows = 0;
  for (const size_t i : group) rows += batch->rows(i);
  NB_RETURN_IF_ERROR(PlanOutputs(batch, group, rows));
  Error error = OrtTry("", [&]() -> Error {
    NB_RETURN_IF_ERROR(MakeInputs(group, rows));
    batch->MarkComputeStart();
    Error ran = RunOrReplan(batch, group, rows);
    batch->MarkComputeEnd();
    NB_RETURN_IF_ERROR(std::move(ran));
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

Error OnnxInstance::MakeInputs(const Group& group, int64_t rows) {
  input_names_.clear();
  input_values_.clear();
  std::vector<const PreparedInput*> parts;
  for (size_t k = 0; k < model_.inputs().size(); ++k) {
    const BoundTensor& tensor = model_.inputs()[k];
    if (!prepared_[group[0]].inputs[k].present) continue;  // as in all requests of the group
    parts.clear();
    for (const size_t i : group) parts.push_back(&prepared_[i].inputs[k]);
    input_names_.push_back(tensor.name.c_str());
    input_values_.push_back(MakeInputValue(tensor, batching_, rows, parts, memory_, &scratch_[k]));
  }
  for (size_t k = 0; k < model_.computed_inputs().size(); ++k) {
    NB_RETURN_IF_ERROR(MakeComputedInput(group, k));
  }
  return Error();
}

ShapeView OnnxInstance::ShapeOf(size_t i, size_t input) const {
  const InputView& view = prepared_[i].inputs[input].view;
  return {view.dims, view.dim_count};
}

Error OnnxInstance::MakeComputedInput(const Group& group, size_t k) {
  const ComputedInput& input = model_.computed_inputs()[k];
  if (!prepared_[group[0]].inputs[input.source].present) {
    return Error::InvalidArg(
        StrCat("input '", input.rule.source(), "' is needed to compute '", input.tensor.name, "'"));
  }
  std::vector<ShapeView> sources;
  for (const size_t i : group) sources.push_back(ShapeOf(i, input.source));
  const Shape shape = input.rule.ShapeFor(sources);
  const size_t size =
      static_cast<size_t>(ElementCount(shape.data(), shape.size())) * input.tensor.element_size;
  char* const data = scratch_[model_.inputs().size() + k].Reserve(size);
  NB_RETURN_IF_ERROR(input.rule.Fill(sources, data));
  input_names_.push_back(input.tensor.name.c_str());
  input_values_.push_back(ViewOf(input.tensor, memory_, data, size, shape));
  return Error();
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
  if (!in_place || !IsOutputMismatch(error)) return error;
  // Once more, in places that the runtime makes; the shapes are learned anew.
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
  const BoundTensor& tensor = *output.tensor;
  if (tensor.scatter_by.has_value()) {
    const std::vector<OutputPart> parts = ScatteredParts(group, tensor);
    const int64_t elements = parts.back().first + parts.back().count;
    NB_ASSIGN_OR_RETURN(const OutputSlicer slicer,
                        OutputSlicer::CreateScattered(tensor, elements, output_values_[k]));
    SendParts(batch, group, output, slicer, parts);
    return Error();
  }
  NB_ASSIGN_OR_RETURN(const OutputSlicer slicer,
                      OutputSlicer::Create(tensor, batching_, rows, output_values_[k]));
  std::vector<OutputPart> parts;
  int64_t first = 0;
  for (const size_t i : group) {
    parts.push_back({slicer.SliceShape(batch->rows(i)), first, batch->rows(i)});
    first += batch->rows(i);
  }
  SendParts(batch, group, output, slicer, parts);
  return Error();
}

std::vector<OnnxInstance::OutputPart> OnnxInstance::ScatteredParts(
    const Group& group, const BoundTensor& tensor) const {
  std::vector<OutputPart> parts;
  int64_t first = 0;
  for (const size_t i : group) {
    OutputPart part;
    part.shape = ScatteredShape(tensor.scatter_dims, batching_, ShapeOf(i, *tensor.scatter_by));
    part.first = first;
    part.count = ElementCount(part.shape.data(), part.shape.size());
    first += part.count;
    parts.push_back(std::move(part));
  }
  return parts;
}

void OnnxInstance::SendParts(Batch* batch, const Group& group, const PlannedOutput& output,
                             const OutputSlicer& slicer, const std::vector<OutputPart>& parts) {
  for (size_t k = 0; k < group.size(); ++k) {
    const size_t i = group[k];
    if (!batch->live(i)) continue;
    // A failure here stays with its request; the others go on.
    const Error error = SendPart(batch, i, output, slicer, parts[k]);
    if (!error.ok() && batch->live(i)) batch->Fail(i, error);
  }
}

Error OnnxInstance::SendPart(Batch* batch, size_t i, const PlannedOutput& output,
                             const OutputSlicer& slicer, const OutputPart& part) {
  const BoundTensor& tensor = *output.tensor;
  const auto dim_count = static_cast<uint32_t>(part.shape.size());
  const size_t size = slicer.SliceSize(part.first, part.count);
  if (tensor.is_state) {
    NB_RETURN_IF_ERROR(UpdateState(
        batch->request(i), tensor.name.c_str(), tensor.type, part.shape.data(), dim_count, size,
        [&](char* destination) { slicer.CopySlice(part.first, part.count, destination); }));
  }
  if (!prepared_[i].wanted[output.index] || output.in_place) return Error();
  char* destination = output.reserved;
  if (destination == nullptr) {
    NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch->Response(i));
    NB_ASSIGN_OR_RETURN(destination, AllocateOutput(response, tensor.name.c_str(), tensor.type,
                                                    part.shape.data(), dim_count, size));
  }
  slicer.CopySlice(part.first, part.count, destination);
  return Error();
}

}  // namespace nereid_backend
