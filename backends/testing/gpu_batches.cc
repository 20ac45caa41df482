// SPDX-License-Identifier: Apache-2.0
// Behaviour gpu_batches: the first input of each request goes to the instance's GPU, is copied
// there and comes back as the first output, by the SDK's pipeline: two batches at a time. With a
// state, the output is what was the input of the request before; then one batch at a time.
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "backends/sdk/batch.h"
#include "backends/sdk/gpu_pipeline.h"
#include "backends/sdk/gpu_work.h"
#include "backends/sdk/log.h"
#include "backends/sdk/tensor.h"
#include "backends/testing/behaviours.h"
#include "backends/testing/placed.h"

namespace nereid_backend {
namespace {

// Larger tensors that are pinned are copied from where they are.
constexpr size_t kSmall = 64 * 1024;

// What a batch has while it is on the GPU.
struct SlotBlocks {
  GpuBlock staged;     // pinned: small inputs
  GpuBlock input;      // on the GPU
  GpuBlock output;     // likewise
  GpuBlock collected;  // pinned: outputs for memory of the host
};

// One request: where its tensors are in the blocks, and where they come from and go to.
struct Part {
  size_t request = 0;
  size_t offset = 0;
  size_t byte_size = 0;
  std::vector<Placed> from;  // the input or, with a state, the state
  Placed to;
  bool collected = false;  // goes to the host by pinned memory
  // With a state: the input, which becomes the next state.
  size_t state_offset = 0;
  std::vector<Placed> state_from;
  TRITONBACKEND_State* state = nullptr;
  Placed state_to;
};

bool OnGpu(const std::vector<Placed>& pieces) { return !pieces.empty() && pieces[0].on_gpu(); }

class CopyJob final : public GpuJob {
 public:
  CopyJob(const TestingModel& model, TRITONBACKEND_ModelInstance* instance, int32_t gpu,
          SlotBlocks* slots, TRITONBACKEND_Request** requests, uint32_t count)
      : model_(model),
        instance_(instance),
        gpu_(gpu),
        slots_(slots),
        batch_(instance, requests, count) {}

  Error Stage(int number, std::vector<NEREID_GpuCopy>* in) override;
  Error Compute(int number, GpuWork* work) override;
  Error Collect(int number, std::vector<NEREID_GpuCopy>* out) override;
  void Finish(int number, const Error& error, uint64_t computed_ns) noexcept override;

 private:
  Error Place(size_t index);
  Error PlaceState(const InputView& input, Part* part);
  // Lists the copies of one tensor into the input block.
  void CopyIn(SlotBlocks* slot, const std::vector<Placed>& pieces, size_t offset,
              std::vector<NEREID_GpuCopy>* in) const;
  Error Answer(const SlotBlocks& slot, int number, const Part& part);

  const TestingModel& model_;
  TRITONBACKEND_ModelInstance* const instance_;
  const int32_t gpu_;
  SlotBlocks* const slots_;
  Batch batch_;
  std::vector<Part> parts_;
  size_t bytes_ = 0;  // of all tensors in the blocks
};

Error CopyJob::PlaceState(const InputView& input, Part* part) {
  const StateConfig& state = model_.config().states[0];
  TRITONBACKEND_Request* const request = batch_.request(part->request);
  NB_ASSIGN_OR_RETURN(const InputView old, InputView::Find(request, state.input_name.c_str()));
  if (old.byte_size != input.byte_size) {
    return Error::InvalidArg(StrCat("testing backend: input has ", input.byte_size,
                                    " bytes, the state ", old.byte_size));
  }
  part->state_from = std::move(part->from);
  NB_ASSIGN_OR_RETURN(part->from, PiecesOf(old, gpu_));
  part->state_offset = bytes_;
  bytes_ += part->byte_size;
  NB_RETURN_IF_ERROR(TRITONBACKEND_StateNew(&part->state, request, state.output_name.c_str(),
                                            input.type, input.dims, input.dim_count));
  Placed& to = part->state_to;
  to.id = gpu_;
  to.byte_size = part->byte_size;
  return Error(TRITONBACKEND_StateBuffer(part->state, &to.base, to.byte_size, &to.type, &to.id));
}

Error CopyJob::Place(size_t index) {
  Part part;
  part.request = index;
  TRITONBACKEND_Request* const request = batch_.request(index);
  NB_ASSIGN_OR_RETURN(const InputView input,
                      InputView::Find(request, model_.config().inputs[0].name.c_str()));
  NB_ASSIGN_OR_RETURN(part.from, PiecesOf(input, gpu_));
  part.byte_size = input.byte_size;
  part.offset = bytes_;
  bytes_ += part.byte_size;
  if (!model_.config().states.empty()) NB_RETURN_IF_ERROR(PlaceState(input, &part));
  NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch_.Response(index));
  TRITONBACKEND_Output* output = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseOutput(response, &output,
                                                  model_.config().outputs[0].name.c_str(),
                                                  input.type, input.dims, input.dim_count));
  part.to.id = gpu_;
  part.to.byte_size = part.byte_size;
  NB_RETURN_IF_ERROR(TRITONBACKEND_OutputBuffer(output, &part.to.base, part.to.byte_size,
                                                &part.to.type, &part.to.id));
  part.collected = part.to.type == TRITONSERVER_MEMORY_CPU;
  parts_.push_back(std::move(part));
  return Error();
}

void CopyJob::CopyIn(SlotBlocks* slot, const std::vector<Placed>& pieces, size_t offset,
                     std::vector<NEREID_GpuCopy>* in) const {
  for (const Placed& piece : pieces) {
    NEREID_GpuCopy copy = {slot->input.data() + offset,
                           slot->input.type(),
                           gpu_,
                           piece.base,
                           piece.type,
                           piece.id,
                           piece.byte_size};
    const bool staged = piece.type == TRITONSERVER_MEMORY_CPU ||
                        (piece.type == TRITONSERVER_MEMORY_CPU_PINNED && piece.byte_size < kSmall);
    if (staged) {
      char* const pinned = slot->staged.data() + offset;
      std::memcpy(pinned, piece.base, piece.byte_size);
      copy.from = pinned;
      copy.from_type = slot->staged.type();
      copy.from_id = 0;
      // Neighbours are one copy.
      NEREID_GpuCopy* const last = in->empty() ? nullptr : &in->back();
      if (last != nullptr && static_cast<const char*>(last->from) + last->byte_size == pinned) {
        last->byte_size += piece.byte_size;
        offset += piece.byte_size;
        continue;
      }
    }
    in->push_back(copy);
    offset += piece.byte_size;
  }
}

Error CopyJob::Stage(int number, std::vector<NEREID_GpuCopy>* in) {
  for (size_t i = 0; i < batch_.size(); ++i) {
    const Error error = Place(i);
    if (!error.ok()) batch_.Fail(i, error);
  }
  SlotBlocks& slot = slots_[number];
  constexpr auto kPinned = TRITONSERVER_MEMORY_CPU_PINNED;
  constexpr auto kGpu = TRITONSERVER_MEMORY_GPU;
  NB_RETURN_IF_ERROR(slot.staged.Reserve(instance_, kPinned, 0, bytes_));
  NB_RETURN_IF_ERROR(slot.input.Reserve(instance_, kGpu, gpu_, bytes_));
  NB_RETURN_IF_ERROR(slot.output.Reserve(instance_, kGpu, gpu_, bytes_));
  NB_RETURN_IF_ERROR(slot.collected.Reserve(instance_, kPinned, 0, bytes_));
  for (const Part& part : parts_) {
    CopyIn(&slot, part.from, part.offset, in);
    if (part.state != nullptr) CopyIn(&slot, part.state_from, part.state_offset, in);
  }
  return Error();
}

Error CopyJob::Compute(int number, GpuWork* work) {
  const SlotBlocks& slot = slots_[number];
  return work->Copy(GpuWork::Line::kCompute,
                    {{slot.output.data(), slot.output.type(), gpu_, slot.input.data(),
                      slot.input.type(), gpu_, bytes_}});
}

Error CopyJob::Collect(int number, std::vector<NEREID_GpuCopy>* out) {
  const SlotBlocks& slot = slots_[number];
  for (const Part& part : parts_) {
    NEREID_GpuCopy copy = {
        part.to.base,       part.to.type, part.to.id,    slot.output.data() + part.offset,
        slot.output.type(), gpu_,         part.byte_size};
    if (part.collected) {
      copy.to = slot.collected.data() + part.offset;
      copy.to_type = slot.collected.type();
    }
    out->push_back(copy);
    if (part.state == nullptr) continue;
    out->push_back({part.state_to.base, part.state_to.type, part.state_to.id,
                    slot.output.data() + part.state_offset, slot.output.type(), gpu_,
                    part.byte_size});
  }
  return Error();
}

Error CopyJob::Answer(const SlotBlocks& slot, int number, const Part& part) {
  if (part.collected && part.byte_size > 0) {
    std::memcpy(part.to.base, slot.collected.data() + part.offset, part.byte_size);
  }
  NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch_.Response(part.request));
  const auto tell = [&](const char* name, bool value) {
    return Error(TRITONBACKEND_ResponseSetBoolParameter(response, name, value));
  };
  const bool input_on_gpu = OnGpu(part.state == nullptr ? part.from : part.state_from);
  NB_LOG_INFO("testing backend: ", model_.config().name, " has read its input on ",
              input_on_gpu ? "the GPU" : "the host");
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseSetIntParameter(response, "slot", number));
  NB_RETURN_IF_ERROR(tell("input_on_gpu", input_on_gpu));
  NB_RETURN_IF_ERROR(tell("output_on_gpu", part.to.on_gpu()));
  if (part.state == nullptr) return Error();
  NB_RETURN_IF_ERROR(tell("state_on_gpu", OnGpu(part.from)));
  return Error(TRITONBACKEND_StateUpdate(part.state));
}

void CopyJob::Finish(int number, const Error& error, uint64_t computed_ns) noexcept {
  const uint64_t now = NowNs();
  batch_.MarkComputed(now - computed_ns, now);
  if (!error.ok()) batch_.FailAll(error);
  for (const Part& part : parts_) {
    if (!batch_.live(part.request)) continue;
    const Error told = Guarded("gpu_batches", [&] { return Answer(slots_[number], number, part); });
    if (!told.ok()) batch_.Fail(part.request, told);
  }
  batch_.Finish();
}

}  // namespace

class GpuBatches {
 public:
  static Result<std::shared_ptr<GpuBatches>> Create(TestingInstance& instance) {
    const ModelConfig& config = instance.model().config();
    const int slots = config.states.empty() ? kSlots : 1;
    NB_ASSIGN_OR_RETURN(std::unique_ptr<GpuWork> work, MakeGpuWork(instance.handle(), slots));
    return std::make_shared<GpuBatches>(std::move(work), slots);
  }
  GpuBatches(std::unique_ptr<GpuWork> work, int slots) : pipeline_(std::move(work), slots) {}

  void Run(TestingInstance& instance, TRITONBACKEND_Request** requests, uint32_t count) {
    int32_t gpu = 0;
    NB_LOG_IF_ERROR(TRITONBACKEND_ModelInstanceDeviceId(instance.handle(), &gpu), "device");
    pipeline_.Run(std::make_unique<CopyJob>(instance.model(), instance.handle(), gpu, slots_.data(),
                                            requests, count));
  }

 private:
  static constexpr int kSlots = 2;
  std::array<SlotBlocks, kSlots> slots_;
  GpuPipeline pipeline_;  // ends before the slots
};

TRITONSERVER_Error* ExecuteGpuBatches(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                      uint32_t count) {
  return Guard("ModelInstanceExecute", [&]() -> Error {
    if (instance.gpu_batches() == nullptr) {
      NB_ASSIGN_OR_RETURN(std::shared_ptr<GpuBatches> made, GpuBatches::Create(instance));
      instance.set_gpu_batches(std::move(made));
    }
    instance.gpu_batches()->Run(instance, requests, count);
    return Error();
  });
}

}  // namespace nereid_backend
