// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/executor.h"

#include <algorithm>

#include "backends/sdk/batch_output.h"
#include "backends/sdk/state.h"

namespace nereid_backend {
namespace {

bool IsAligned(const char* address, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(address) & (alignment - 1)) == 0;
}

}  // namespace

GraphExecutor::GraphExecutor(const BoundModel& model, Outputs outputs)
    : model_(model),
      batching_(model.batching()),
      in_place_(outputs == Outputs::kInPlace),
      scratch_(model.inputs().size() + model.computed_inputs().size()),
      run_inputs_(scratch_.size()),
      run_outputs_(model.outputs().size()) {}

void GraphExecutor::Begin(Batch* batch) {
  batch_ = batch;
  prepared_.resize(std::max(prepared_.size(), batch->size()));
  waiting_.clear();
  for (size_t i = 0; i < batch->size(); ++i) {
    const Error error = Prepare(i);
    if (error.ok()) {
      waiting_.push_back(i);
    } else {
      batch->Fail(i, error);
    }
  }
}

bool GraphExecutor::Next() {
  while (!waiting_.empty()) {
    TakeGroup();
    Error error = PlanOutputs();
    if (error.ok()) error = MakeInputs();
    if (error.ok()) return true;
    FailGroup(error);
  }
  return false;
}

void GraphExecutor::TakeGroup() {
  group_.clear();
  requests_.clear();
  Group rest;
  rows_ = 0;
  for (const size_t i : waiting_) {
    const bool joins = group_.empty() || (batching_ && SameShapes(group_[0], i) && MayJoinGroup(i));
    (joins ? group_ : rest).push_back(i);
    if (!joins) continue;
    rows_ += batch_->rows(i);
    requests_.push_back(batch_->request(i));
  }
  waiting_ = std::move(rest);
}

bool GraphExecutor::MayJoinGroup(size_t i) const {
  return !may_join_ ||
         std::all_of(group_.begin(), group_.end(), [&](size_t a) { return may_join_(a, i); });
}

void GraphExecutor::FailGroup(const Error& error) {
  for (const size_t i : group_) {
    if (batch_->live(i)) batch_->Fail(i, error);
  }
}

Error GraphExecutor::Prepare(size_t i) {
  Prepared& prepared = prepared_[i];
  prepared.inputs.resize(model_.inputs().size());
  for (size_t k = 0; k < prepared.inputs.size(); ++k) {
    NB_RETURN_IF_ERROR(PrepareInput(model_.inputs()[k], batch_->request(i), &prepared.inputs[k]));
  }
  if (batching_) NB_RETURN_IF_ERROR(PrepareRows(i));
  for (const BoundTensor& output : model_.outputs()) {
    if (output.scatter_by.has_value()) NB_RETURN_IF_ERROR(CheckScattered(i, output));
  }
  prepared.wanted.assign(model_.outputs().size(), false);
  for (size_t k = 0; k < model_.outputs().size(); ++k) {
    const BoundTensor& output = model_.outputs()[k];
    prepared.wanted[k] = output.is_output && WantsOutput(batch_->request(i), output.name);
  }
  return Error();
}

Error GraphExecutor::PrepareRows(size_t i) {
  const PreparedInput* first = nullptr;
  for (const PreparedInput& input : prepared_[i].inputs) {
    if (!input.present) continue;
    if (input.view.dim_count == 0) {
      return Error::InvalidArg(
          StrCat("input '", input.view.name, "' has no batch dimension: its shape is []"));
    }
    const int64_t rows = input.view.dims[0];
    if (first == nullptr) {
      first = &input;
      batch_->set_rows(i, rows);
    }
    if (rows != batch_->rows(i)) {
      return Error::InvalidArg(StrCat("input '", input.view.name, "' has ", rows,
                                      " rows, but input '", first->view.name, "' has ",
                                      batch_->rows(i)));
    }
  }
  return Error();
}

Error GraphExecutor::CheckScattered(size_t i, const BoundTensor& output) const {
  const std::string& source = model_.inputs()[*output.scatter_by].name;
  if (!prepared_[i].inputs[*output.scatter_by].present) {
    return Error::InvalidArg(
        StrCat("input '", source, "' is needed to cut output '", output.name, "'"));
  }
  // The dims of an empty tensor are not limited by its size. The limit keeps the sum over a batch
  // from overflowing.
  constexpr int64_t kMost = int64_t{1} << 48;
  const Shape shape =
      ScatteredShape(output.scatter_dims, batching_, ShapeOf(i, *output.scatter_by));
  const int64_t count = ElementCount(shape.data(), shape.size());
  if (count >= 0 && count <= kMost) return Error();
  return Error::InvalidArg(StrCat("input '", source, "' gives output '", output.name,
                                  "' the shape ", ShapeToString(shape), ", which is too large"));
}

bool GraphExecutor::SameShapes(size_t a, size_t b) const {
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

RunInput* GraphExecutor::AddInput(size_t index) {
  RunInput* const input = &run_inputs_[input_count_++];
  input->index = index;
  input->scratch = &scratch_[index];
  return input;
}

Error GraphExecutor::MakeInputs() {
  input_count_ = 0;
  for (size_t k = 0; k < model_.inputs().size(); ++k) {
    if (!prepared_[group_[0]].inputs[k].present) continue;  // absent from all requests of the group
    parts_.clear();
    for (const size_t i : group_) parts_.push_back(&prepared_[i].inputs[k]);
    JoinInputs(model_.inputs()[k], batching_, rows_, parts_, AddInput(k));
  }
  for (size_t k = 0; k < model_.computed_inputs().size(); ++k) {
    NB_RETURN_IF_ERROR(MakeComputedInput(k));
  }
  return Error();
}

ShapeView GraphExecutor::ShapeOf(size_t i, size_t input) const {
  const InputView& view = prepared_[i].inputs[input].view;
  return {view.dims, view.dim_count};
}

Error GraphExecutor::MakeComputedInput(size_t k) {
  const ComputedInput& computed = model_.computed_inputs()[k];
  if (!prepared_[group_[0]].inputs[computed.source].present) {
    return Error::InvalidArg(StrCat("input '", computed.rule.source(), "' is needed to compute '",
                                    computed.tensor.name, "'"));
  }
  std::vector<ShapeView> sources;
  for (const size_t i : group_) sources.push_back(ShapeOf(i, computed.source));
  RunInput* const input = AddInput(model_.inputs().size() + k);
  input->tensor = &computed.tensor;
  input->shape = computed.rule.ShapeFor(sources);
  input->byte_size = static_cast<size_t>(ElementCount(input->shape.data(), input->shape.size())) *
                     computed.tensor.element_size;
  input->elements.clear();
  char* const data = input->scratch->Reserve(input->byte_size);
  input->pieces.assign(1, Piece{data, input->byte_size});
  return computed.rule.Fill(sources, data);
}

Error GraphExecutor::PlanOutputs() {
  output_count_ = 0;
  for (size_t k = 0; k < model_.outputs().size(); ++k) {
    const BoundTensor& tensor = model_.outputs()[k];
    const bool wanted =
        std::any_of(group_.begin(), group_.end(), [&](size_t i) { return prepared_[i].wanted[k]; });
    if (!wanted && !tensor.is_state) continue;
    RunOutput& output = run_outputs_[output_count_++];
    output.tensor = &tensor;
    output.index = k;
    output.place = nullptr;
    output.block.reset();
    output.data = nullptr;
    output.elements.clear();
  }
  return ReservePlaces();
}

// Gives results whose shape is known a place from which the server can send them.
Error GraphExecutor::ReservePlaces() {
  const bool trusted = model_.shape_trust() == BoundModel::ShapeTrust::kConfirmed;
  if (!in_place_ || !trusted) return Error();
  if (group_.size() == 1) return ReserveInResponse();
  ReserveBlocks();
  return Error();
}

void GraphExecutor::PlanPlace(RunOutput* output) const {
  const BoundTensor& tensor = *output->tensor;
  output->shape = PredictedShape(tensor, batching_, rows_);
  output->place_size =
      static_cast<size_t>(ElementCount(output->shape.data(), output->shape.size())) *
      tensor.element_size;
}

// For a run of one request. If one of the buffers is not aligned to its elements, as runtimes need
// it, none is used.
Error GraphExecutor::ReserveInResponse() {
  bool aligned = true;
  for (RunOutput& output : outputs()) {
    const BoundTensor& tensor = *output.tensor;
    if (!tensor.predictable || !prepared_[group_[0]].wanted[output.index]) continue;
    PlanPlace(&output);
    NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch_->Response(group_[0]));
    NB_ASSIGN_OR_RETURN(
        output.place,
        AllocateOutput(response, tensor.name.c_str(), tensor.type, output.shape.data(),
                       static_cast<uint32_t>(output.shape.size()), output.place_size));
    aligned = aligned && IsAligned(output.place, tensor.element_size);
  }
  if (!aligned) Replan();
  return Error();
}

// For a run of several requests.
void GraphExecutor::ReserveBlocks() {
  for (RunOutput& output : outputs()) {
    const BoundTensor& tensor = *output.tensor;
    if (!tensor.predictable || tensor.is_state || tensor.scatter_by.has_value()) continue;
    PlanPlace(&output);
    if (output.place_size / group_.size() < OutputBlocks::kLeastPart) continue;
    output.block = blocks_->Take(output.place_size);
    output.place = output.block.get();
  }
}

bool GraphExecutor::Replan() {
  bool had_places = false;
  for (RunOutput& output : outputs()) {
    had_places = had_places || output.place != nullptr;
    output.place = nullptr;
    output.block.reset();
  }
  if (had_places && group_.size() == 1) batch_->DropResponse(group_[0]);
  return had_places;
}

void GraphExecutor::End(const Error& ran) {
  if (!ran.ok()) {
    FailGroup(ran);
    return;
  }
  if (in_place_ && model_.shape_trust() == BoundModel::ShapeTrust::kUnknown) LearnShapes();
  for (const RunOutput& output : outputs()) {
    const Error error = SendOutput(output);
    if (!error.ok()) {
      FailGroup(error);
      break;
    }
  }
  for (RunOutput& output : outputs()) output.block.reset();
}

void GraphExecutor::LearnShapes() {
  if (output_count_ == 0) return;
  for (const RunOutput& output : outputs()) {
    if (!output.tensor->predictable) continue;
    if (output.shape != PredictedShape(*output.tensor, batching_, rows_)) {
      model_.set_shape_trust(BoundModel::ShapeTrust::kRefuted);
      return;
    }
  }
  model_.set_shape_trust(BoundModel::ShapeTrust::kConfirmed);
}

Error GraphExecutor::SendOutput(const RunOutput& output) {
  const BoundTensor& tensor = *output.tensor;
  if (output.in_response() && !tensor.is_state) return Error();
  if (tensor.scatter_by.has_value()) {
    const std::vector<OutputPart> parts = ScatteredParts(tensor);
    const int64_t elements = parts.back().first + parts.back().count;
    NB_ASSIGN_OR_RETURN(const OutputSlicer slicer, OutputSlicer::CreateScattered(output, elements));
    SendParts(output, slicer, parts);
    return Error();
  }
  NB_ASSIGN_OR_RETURN(const OutputSlicer slicer, OutputSlicer::Create(output, batching_, rows_));
  SendParts(output, slicer, RowParts(slicer));
  return Error();
}

std::vector<GraphExecutor::OutputPart> GraphExecutor::ScatteredParts(
    const BoundTensor& tensor) const {
  std::vector<OutputPart> parts;
  int64_t first = 0;
  for (const size_t i : group_) {
    OutputPart part;
    part.shape = ScatteredShape(tensor.scatter_dims, batching_, ShapeOf(i, *tensor.scatter_by));
    part.first = first;
    part.count = ElementCount(part.shape.data(), part.shape.size());
    first += part.count;
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<GraphExecutor::OutputPart> GraphExecutor::RowParts(const OutputSlicer& slicer) const {
  std::vector<OutputPart> parts;
  int64_t first = 0;
  for (const size_t i : group_) {
    parts.push_back({slicer.SliceShape(batch_->rows(i)), first, batch_->rows(i)});
    first += batch_->rows(i);
  }
  return parts;
}

void GraphExecutor::SendParts(const RunOutput& output, const OutputSlicer& slicer,
                              const std::vector<OutputPart>& parts) {
  for (size_t k = 0; k < group_.size(); ++k) {
    const size_t i = group_[k];
    if (!batch_->live(i)) continue;
    // A failure here affects only its own request.
    const Error error = SendPart(i, output, slicer, parts[k]);
    if (!error.ok() && batch_->live(i)) batch_->Fail(i, error);
  }
}

Error GraphExecutor::SendPart(size_t i, const RunOutput& output, const OutputSlicer& slicer,
                              const OutputPart& part) {
  const BoundTensor& tensor = *output.tensor;
  const auto dim_count = static_cast<uint32_t>(part.shape.size());
  if (tensor.is_state) {
    const size_t size = slicer.SliceSize(part.first, part.count);
    NB_RETURN_IF_ERROR(UpdateState(
        batch_->request(i), tensor.name.c_str(), tensor.type, part.shape.data(), dim_count, size,
        [&](char* destination) { slicer.CopySlice(part.first, part.count, destination); }));
  }
  if (!prepared_[i].wanted[output.index] || output.in_response()) return Error();
  return AddOutput(i, output, slicer, part);
}

Error GraphExecutor::AddOutput(size_t i, const RunOutput& output, const OutputSlicer& slicer,
                               const OutputPart& part) {
  const BoundTensor& tensor = *output.tensor;
  const auto dim_count = static_cast<uint32_t>(part.shape.size());
  NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch_->Response(i));
  char* destination = nullptr;
  if (output.block == nullptr) {
    NB_ASSIGN_OR_RETURN(
        destination, AllocateOutput(response, tensor.name.c_str(), tensor.type, part.shape.data(),
                                    dim_count, slicer.SliceSize(part.first, part.count)));
  } else {
    const LentBytes lent = LendPart(output.block, slicer.Slice(part.first, part.count));
    Result<bool> taken = LendOutput(response, tensor.name.c_str(), tensor.type, part.shape.data(),
                                    dim_count, lent, &destination);
    if (taken.ok() && *taken) return Error();
    lent.release(lent.userp);
    if (!taken.ok()) return std::move(taken.error());
  }
  slicer.CopySlice(part.first, part.count, destination);
  return Error();
}

}  // namespace nereid_backend
