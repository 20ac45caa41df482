// SPDX-License-Identifier: Apache-2.0
// StepAllocator: memory for the tensors that the steps of ensembles write. It is on the heap, but
// for outputs that a GPU reads next. Thread-safe.
#ifndef NEREID_SCHEDULING_ENSEMBLE_STEP_ALLOCATOR_H_
#define NEREID_SCHEDULING_ENSEMBLE_STEP_ALLOCATOR_H_

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/export.h"
#include "device/devices.h"
#include "memory/output_allocator.h"
#include "scheduling/ensemble/step_graph.h"

namespace nereid {

// What the allocator_userp of a step's responses points to; null: all outputs are on the heap.
struct GpuOutputs {
  // Outputs of the step's model that stay on a GPU if the backend asks for memory there.
  std::vector<std::string> names;
};

// The outputs of a step that stay on a GPU if they are made there, because all steps that read them
// have instances on GPUs; null: none. One that the client gets stays only if the client's memory is
// `client_on_gpu`, because its answer may be made on an I/O thread otherwise. `has_gpu`: whether
// the model of a step that runs has such an instance.
std::shared_ptr<const GpuOutputs> FindGpuOutputs(const StepGraph& graph, const StepPlan& plan,
                                                 uint32_t step, bool client_on_gpu,
                                                 absl::FunctionRef<bool(uint32_t step)> has_gpu);

class NEREID_API StepAllocator final : public OutputAllocator {
 public:
  // Bytes on the heap are counted against `budget`, which may be null; both outlive this. Those on
  // a GPU are limited by its pool.
  StepAllocator(Budget* budget, const Devices* devices) : heap_(budget), devices_(devices) {}

  absl::Status Allocate(const char* tensor_name, void* allocator_userp,
                        OutputBuffer* buffer) const override;
  void Release(const OutputBuffer& buffer) const override;
  bool TakesHeapBuffers() const override { return true; }
  absl::Status Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                     MemoryPlace* place) const override;
  Budget* host_budget() const override { return heap_.host_budget(); }

 private:
  const HeapOutputAllocator heap_;
  const Devices* const devices_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_STEP_ALLOCATOR_H_
