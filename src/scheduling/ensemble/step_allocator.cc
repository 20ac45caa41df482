// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/step_allocator.h"

#include <absl/algorithm/container.h>

#include <optional>
#include <utility>

namespace nereid {
namespace {

bool StaysOnGpu(const char* tensor_name, const void* allocator_userp) {
  const auto* const outputs = static_cast<const GpuOutputs*>(allocator_userp);
  return outputs != nullptr && tensor_name != nullptr &&
         absl::c_linear_search(outputs->names, tensor_name);
}

}  // namespace

std::shared_ptr<const GpuOutputs> FindGpuOutputs(const StepGraph& graph, const StepPlan& plan,
                                                 uint32_t step, bool client_on_gpu,
                                                 absl::FunctionRef<bool(uint32_t step)> has_gpu) {
  if (!has_gpu(step)) return nullptr;
  const auto stays = [&](uint32_t tensor) {
    const StepGraph::Tensor& spec = graph.tensors()[tensor];
    const bool is_wanted =
        spec.output >= 0 && absl::c_linear_search(plan.outputs, static_cast<uint32_t>(spec.output));
    if (plan.uses[tensor] == 0 || (is_wanted && !client_on_gpu)) return false;
    return absl::c_all_of(
        spec.readers, [&](uint32_t reader) { return plan.runs[reader] == 0 || has_gpu(reader); });
  };
  GpuOutputs outputs;
  for (const StepGraph::Port& port : graph.steps()[step].outputs) {
    if (stays(port.tensor)) outputs.names.push_back(port.name);
  }
  if (outputs.names.empty()) return nullptr;
  return std::make_shared<const GpuOutputs>(std::move(outputs));
}

absl::Status StepAllocator::Allocate(const char* tensor_name, void* allocator_userp,
                                     OutputBuffer* buffer) const {
  if (buffer->byte_size > 0 && buffer->place.type == MemoryType::kGpu &&
      StaysOnGpu(tensor_name, allocator_userp)) {
    if (const auto memory = devices_->Allocate(buffer->place, buffer->byte_size)) {
      buffer->base = memory->base;
      buffer->place = memory->place;
      return absl::OkStatus();
    }
  }
  return heap_.Allocate(tensor_name, allocator_userp, buffer);
}

void StepAllocator::Release(const OutputBuffer& buffer) const {
  if (buffer.place.type == MemoryType::kCpu) return heap_.Release(buffer);
  devices_->Free({buffer.base, buffer.place});
}

absl::Status StepAllocator::Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                                  MemoryPlace* place) const {
  const bool stays = place->type == MemoryType::kGpu && devices_->Get(place->id) != nullptr &&
                     StaysOnGpu(tensor_name, allocator_userp);
  if (!stays) *place = MemoryPlace{};
  return absl::OkStatus();
}

}  // namespace nereid
