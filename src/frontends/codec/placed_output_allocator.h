// SPDX-License-Identifier: Apache-2.0
// PlacedOutputAllocator: memory for the outputs of a request that says where some of them go.
// Immutable; thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_PLACED_OUTPUT_ALLOCATOR_H_
#define NEREID_FRONTENDS_CODEC_PLACED_OUTPUT_ALLOCATOR_H_

#include <memory>

#include "frontends/codec/output_formats.h"
#include "infer/flight.h"
#include "memory/output_allocator.h"

namespace nereid {

// The `allocator_userp` of a request is its OutputFormats. Outputs with a place are written there;
// the others get memory from the heap, counted against the budget.
class PlacedOutputAllocator final : public OutputAllocator {
 public:
  explicit PlacedOutputAllocator(Budget* budget) : heap_(budget) {}

  // INTERNAL if the tensor is larger than its place.
  absl::Status Allocate(const char* tensor_name, void* allocator_userp,
                        OutputBuffer* buffer) const override;
  void Release(const OutputBuffer& buffer) const override;
  absl::Status Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                     MemoryPlace* place) const override;
  OutputPlace FindPlace(const char* tensor_name, void* allocator_userp) const override;
  Budget* host_budget() const override { return heap_.host_budget(); }

 private:
  const HeapOutputAllocator heap_;
};

// The allocators of a frontend.
struct OutputAllocators {
  explicit OutputAllocators(Budget* budget)
      : heap(budget), lending(budget, /*lends=*/true), placed(budget) {}

  // For a request whose outputs are wanted in these `formats`. With places, the formats are copied:
  // they have to last as long as responses of the request are filled. `raw`: the frontend only
  // sends the bytes of outputs, or classifies them.
  Flight::Outputs For(const OutputFormats& formats, bool raw) const {
    if (!formats.HasPlaces()) return raw && !formats.Classifies() ? &lending : &heap;
    Flight::Outputs outputs(&placed, std::make_shared<OutputFormats>(formats));
    outputs.on_gpu = formats.OnGpu();
    return outputs;
  }

  const HeapOutputAllocator heap;
  const HeapOutputAllocator lending;
  const PlacedOutputAllocator placed;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_PLACED_OUTPUT_ALLOCATOR_H_
