// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/ensemble_messages.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/status_macros.h"
#include "infer/response.h"

namespace nereid {
namespace {

constexpr char kId[] = "sequence_id";
constexpr char kStart[] = "sequence_start";
constexpr char kEnd[] = "sequence_end";

void SetFlag(uint32_t flag, const std::optional<bool>& set, uint32_t* flags) {
  if (set.has_value()) *flags = *set ? *flags | flag : *flags & ~flag;
}

void Apply(const SequenceOverride& sequence, RequestContent* child) {
  if (sequence.id.has_value()) child->set_correlation_id(*sequence.id);
  uint32_t flags = child->flags();
  SetFlag(kRequestFlagSequenceStart, sequence.start, &flags);
  SetFlag(kRequestFlagSequenceEnd, sequence.end, &flags);
  child->set_flags(flags);
}

absl::Status ReadFlag(const char* type_error, const Parameter& parameter,
                      std::optional<bool>* flag) {
  const bool* const value = std::get_if<bool>(&parameter.value);
  if (value == nullptr) return absl::InvalidArgumentError(type_error);
  *flag = *value;
  return absl::OkStatus();
}

absl::Status ReadParameter(const Parameter& parameter, SequenceOverride* sequence) {
  if (parameter.name == kStart) {
    return ReadFlag("expect parameter 'sequence_start' to be TRITONSERVER_PARAMETER_BOOL",
                    parameter, &sequence->start);
  }
  if (parameter.name == kEnd) {
    return ReadFlag("expect parameter 'sequence_end' to be TRITONSERVER_PARAMETER_BOOL", parameter,
                    &sequence->end);
  }
  if (const auto* number = std::get_if<int64_t>(&parameter.value)) {
    sequence->id = CorrelationId(static_cast<uint64_t>(*number));
  } else if (const auto* text = std::get_if<std::string>(&parameter.value)) {
    sequence->id = CorrelationId(*text);
  } else {
    return absl::InvalidArgumentError(
        "expected parameter 'sequence_id' to be TRITONSERVER_PARAMETER_INT or "
        "TRITONSERVER_PARAMETER_STRING");
  }
  return absl::OkStatus();
}

}  // namespace

Shape BridgeShape(absl::Span<const int64_t> shape, bool batched, size_t rank) {
  const size_t wanted = rank + (batched ? 1 : 0);
  Shape bridged;
  if (batched && shape.size() + 1 == wanted) bridged.push_back(1);
  const bool drop = !batched && shape.size() == wanted + 1 && shape[0] == 1;
  bridged.insert(bridged.end(), shape.begin() + (drop ? 1 : 0), shape.end());
  return bridged;
}

void CopyHeader(const RequestContent& parent, RequestContent* child) {
  child->set_id(parent.id());
  child->set_flags(parent.flags());
  child->set_correlation_id(parent.correlation_id());
  child->set_priority(parent.asked_priority());
  child->set_timeout_us(parent.timeout_us());
  for (const Parameter& parameter : parent.parameters()) child->AddParameter(parameter);
}

absl::Status AddChildInput(const std::string& name, const TensorValue& value,
                           RequestContent* child) {
  if (value.absent) return absl::OkStatus();
  const CompiledModel& model = child->model()->config();
  const int index = model.FindInput(name);
  Shape shape = value.shape;
  // If the model has no such input (any more), the check of the request reports that.
  if (index >= 0) {
    const InputSpec& spec = model.inputs[static_cast<size_t>(index)];
    shape = BridgeShape(shape, model.max_batch_size > 0 && !spec.is_shape_tensor, spec.dims.size());
  }
  ASSIGN_OR_RETURN(InferInput* const input, child->AddInput(name, value.data_type, shape));
  if (value.input != nullptr) {
    for (const InputBuffer& buffer : value.input->buffers()) input->AppendBuffer(buffer);
  } else {
    const OutputBuffer& buffer = value.bytes.buffer();
    input->AppendBuffer({buffer.base, buffer.byte_size, buffer.place});
  }
  if (value.sequence != nullptr) Apply(*value.sequence, child);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const SequenceOverride>> ReadSequenceOverride(
    const InferResponse& response) {
  std::shared_ptr<SequenceOverride> sequence;
  for (const Parameter& parameter : response.parameters()) {
    if (parameter.name != kId && parameter.name != kStart && parameter.name != kEnd) continue;
    if (sequence == nullptr) sequence = std::make_shared<SequenceOverride>();
    RETURN_IF_ERROR(ReadParameter(parameter, sequence.get()));
  }
  return std::shared_ptr<const SequenceOverride>(std::move(sequence));
}

void AddSequenceParameters(const SequenceOverride& sequence, InferResponse* response) {
  if (sequence.id.has_value()) {
    if (sequence.id->is_string()) {
      response->AddParameter({kId, sequence.id->string_value()});
    } else {
      response->AddParameter({kId, static_cast<int64_t>(sequence.id->uint_value())});
    }
  }
  if (sequence.start.has_value()) response->AddParameter({kStart, *sequence.start});
  if (sequence.end.has_value()) response->AddParameter({kEnd, *sequence.end});
}

namespace {

// Of a tensor that a step has made.
const OutputBuffer& BufferOf(const EnsembleAnswer::Output& output) {
  return output.in_pool ? output.kept : output.value.bytes.buffer();
}

// REQUIRES: `to` is memory of the host.
absl::Status CopyInput(const InferInput& input, const Devices& devices, char* to) {
  for (const InputBuffer& buffer : input.buffers()) {
    if (buffer.place.type == MemoryType::kGpu) {
      RETURN_IF_ERROR(
          devices.Copy({{to, MemoryPlace{}, buffer.base, buffer.place, buffer.byte_size}}));
    } else {
      std::memcpy(to, buffer.base, buffer.byte_size);
    }
    to += buffer.byte_size;
  }
  return absl::OkStatus();
}

absl::Status CopyBytes(const EnsembleAnswer::Output& output, const Devices& devices,
                       const OutputBuffer& to) {
  const TensorValue& value = output.value;
  if (value.input != nullptr) {
    return CopyInput(*value.input, devices, static_cast<char*>(to.base));
  }
  const OutputBuffer& buffer = BufferOf(output);
  if (buffer.byte_size == 0) return absl::OkStatus();
  if (buffer.place.type == MemoryType::kGpu || to.place.type == MemoryType::kGpu) {
    return devices.Copy({{to.base, to.place, buffer.base, buffer.place, buffer.byte_size}});
  }
  std::memcpy(to.base, buffer.base, buffer.byte_size);
  return absl::OkStatus();
}

// Logs once per output that an answer was without it. Not logged for an output that is an input of
// the ensemble: the client left it out.
void NoteLeftOut(const EnsembleContext& context, const InferRequest& request,
                 const EnsembleAnswer::Output& output) {
  const int32_t writer = context.graph.tensors()[output.tensor].writer;
  if (writer < 0 || context.told_left_out[output.index].exchange(true)) return;
  const std::string& name = context.config->outputs[output.index].name;
  LOG_WARNING << request.About() << "Composing models did not output tensor " << name
              << ": ensemble '" << context.config->name << "' has answered without output '" << name
              << "', which step " << writer << " (model '"
              << context.graph.steps()[static_cast<size_t>(writer)].spec.model_name
              << "') left out; further such answers are not logged";
}

// Adds the parameters about the sequence: the values of the request, replaced by those of the steps
// whose outputs are in the answer.
void AddSequence(const EnsembleAnswer& answer, const InferRequest& request,
                 InferResponse* response) {
  SequenceOverride said;
  said.id = request.correlation_id();
  said.start = (request.flags() & kRequestFlagSequenceStart) != 0;
  said.end = (request.flags() & kRequestFlagSequenceEnd) != 0;
  for (const EnsembleAnswer::Output& output : answer.outputs) {
    if (output.value.sequence == nullptr) continue;
    const SequenceOverride& over = *output.value.sequence;
    if (over.id.has_value()) said.id = over.id;
    if (over.start.has_value()) said.start = over.start;
    if (over.end.has_value()) said.end = over.end;
  }
  AddSequenceParameters(said, response);
}

absl::Status AddOutput(const EnsembleContext& context, const InferRequest& request,
                       EnsembleAnswer::Output* output, InferResponse* response) {
  TensorValue& value = output->value;
  if (value.absent) {
    NoteLeftOut(context, request, *output);
    return absl::OkStatus();
  }
  const CompiledModel& config = *context.config;
  const OutputSpec& spec = config.outputs[output->index];
  const size_t rank = (spec.reshape.has_value() ? *spec.reshape : spec.dims).size();
  ASSIGN_OR_RETURN(ResponseOutput* const to,
                   response->AddOutput(spec.name, value.data_type,
                                       BridgeShape(value.shape, config.max_batch_size > 0, rank)));
  MemoryPlace wish;
  size_t byte_size = value.byte_size();
  if (value.input == nullptr) {
    const OutputBuffer& made = BufferOf(*output);
    const bool on_heap = made.place.type == MemoryType::kCpu;
    if (on_heap && !output->in_pool && response->allocator()->TakesHeapBuffers()) {
      to->Adopt(value.bytes.Take());
      return absl::OkStatus();
    }
    byte_size = made.byte_size;
    if (made.place.type == MemoryType::kGpu) wish = made.place;
  }
  RETURN_IF_ERROR(to->Allocate(byte_size, wish));
  return CopyBytes(*output, request.model()->devices(), to->buffer());
}

}  // namespace

EnsembleAnswer CollectAnswer(const StepGraph& graph, const StepPlan& plan, uint32_t iteration,
                             TensorPool* pool) {
  EnsembleAnswer answer;
  for (const uint32_t index : plan.outputs) {
    EnsembleAnswer::Output& output = answer.outputs.emplace_back();
    output.index = index;
    output.tensor = graph.outputs()[index];
    output.iteration = graph.tensors()[output.tensor].iterated ? iteration : 0;
    TensorValue* const value = pool->Find(output.tensor, output.iteration);
    output.in_pool = value->uses != 1;
    output.kept = value->bytes.buffer();
    output.value.data_type = value->data_type;
    output.value.shape = value->shape;
    output.value.input = value->input;
    output.value.sequence = value->sequence;
    output.value.absent = value->absent;
    if (!output.in_pool) output.value.bytes = pool->EndUse(output.tensor, output.iteration);
  }
  return answer;
}

absl::Status SendAnswer(const EnsembleContext& context, InferRequest* request,
                        EnsembleAnswer* answer) {
  if (!answer->error.ok()) {
    request->RespondError(answer->error, answer->reason);
    return absl::OkStatus();
  }
  const std::shared_ptr<ResponseStream> stream = request->stream();
  std::unique_ptr<InferResponse> response;
  if (!answer->outputs.empty()) {
    response = stream->NewResponse();
    for (EnsembleAnswer::Output& output : answer->outputs) {
      const absl::Status added = AddOutput(context, *request, &output, response.get());
      if (added.ok()) continue;
      response.reset();
      if (answer->is_final) {
        request->RespondError(EnsembleError(context, added, -1), FailureReason::kOther);
      }
      return added;
    }
    if (!response->outputs().empty()) AddSequence(*answer, *request, response.get());
  }
  const absl::Status sent =
      stream->Send(std::move(response), answer->is_final ? kResponseCompleteFinal : 0);
  if (!sent.ok()) LOG_ERROR_SELDOM << stream->About() << sent.message();
  return absl::OkStatus();
}

absl::Status EnsembleError(const EnsembleContext& context, const absl::Status& error, int step) {
  std::string text = absl::StrCat("in ensemble '", context.config->name, "', ", error.message());
  if (step >= 0) {
    absl::StrAppend(&text, " (step ", step, ", model '",
                    context.graph.steps()[static_cast<size_t>(step)].spec.model_name, "')");
  }
  return absl::Status(error.code(), text);
}

absl::Status MissingOutputError(const EnsembleContext& context, const InferRequest& request,
                                const StepPlan& plan, const RunProgress& progress) {
  std::string text = absl::StrCat(request.LogPrefix(),
                                  "unexpected deadlock, at least one output is not set while no "
                                  "more ensemble steps can be made");
  for (uint32_t i = 0; i < plan.outputs.size(); ++i) {
    if (!progress.Lacks(plan, i)) continue;
    absl::StrAppend(&text, ": Composing models did not output tensor ",
                    context.config->outputs[plan.outputs[i]].name);
    break;
  }
  return EnsembleError(context, absl::InvalidArgumentError(text), -1);
}

void RecordEnsembleSuccess(const EnsembleContext& context, const InferRequest& request,
                           const ComputeTimes& times) {
  SuccessTimes sums;
  sums.request_start = request.request_start_ns();
  sums.queue_start = request.queue_start_ns();
  sums.exec_start = sums.queue_start + times.queue.load();
  sums.compute_start = sums.exec_start + times.input.load();
  sums.compute_end = sums.compute_start + times.infer.load();
  sums.exec_end = sums.compute_end + times.output.load();
  sums.request_end = ToNanos(context.clock->Now());
  ModelStatistics& statistics = request.model()->statistics();
  statistics.RecordSuccess(ModelStatistics::kModelShard, request.batch_size(), sums);
  statistics.RecordBatch(ModelStatistics::kModelShard, request.units_in_batch(), sums.exec_start,
                         sums.compute_start, sums.compute_end, sums.exec_end,
                         context.clock->WallMillis());
  if (request.compute_times() != nullptr) request.compute_times()->Add(sums);
}

}  // namespace nereid
