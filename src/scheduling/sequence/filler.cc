#include "scheduling/sequence/filler.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "infer/response.h"
#include "memory/output_allocator.h"

namespace nereid {
namespace {

// A filler request with the memory that all its inputs share.
struct OwnedFiller {
  explicit OwnedFiller(std::shared_ptr<ServingModel> model, uint64_t bytes)
      : zeros(std::make_unique<char[]>(bytes)),
        request(std::move(model), /*requested_version=*/-1) {}

  const std::unique_ptr<char[]> zeros;
  InferRequest request;
};

void DropResponse(InferResponse* response, uint32_t, const ResponseTarget&) { delete response; }

void DeleteFiller(InferRequest*, uint32_t, const ReleaseTarget& target) {
  delete static_cast<OwnedFiller*>(target.userp);
}

// The size of the input in a filler, whose BYTES elements are empty strings.
uint64_t SizeOf(const InferInput& input) {
  if (input.data_type() != DataType::kBytes) return input.byte_size();
  const std::optional<int64_t> count = ElementCount(input.shape());
  return sizeof(uint32_t) * static_cast<uint64_t>(std::max<int64_t>(0, count.value_or(0)));
}

}  // namespace

FillerShape FillerShape::Of(const InferRequest& request) {
  FillerShape shape;
  for (const InferInput& input : request.inputs()) {
    shape.inputs.push_back(
        {input.name(), input.data_type(), input.sent_shape(), input.shape(), SizeOf(input)});
  }
  return shape;
}

RequestPtr MakeFiller(ModelPass pass, const FillerShape& shape, TimePoint now) {
  // Never destroyed: a response may outlive everything else. The allocator has no state.
  static const HeapOutputAllocator* const allocator = new HeapOutputAllocator(nullptr);
  uint64_t most = 0;
  for (const FillerShape::Input& input : shape.inputs) most = std::max(most, input.byte_size);
  auto owned = std::make_unique<OwnedFiller>(pass.model(), most);
  InferRequest& request = owned->request;
  request.set_is_filler();
  ReleaseTarget released;
  released.fn = &DeleteFiller;
  released.userp = owned.get();
  request.set_release_target(released);
  ResponseTarget responses;
  responses.fn = &DropResponse;
  responses.allocator = allocator;
  request.set_response_target(responses);
  for (const FillerShape::Input& input : shape.inputs) {
    absl::StatusOr<InferInput*> added =
        request.AddInput(input.name, input.data_type, input.sent_shape);
    if (!added.ok()) continue;  // cannot happen: the inputs of a request have different names
    (*added)->set_shape(input.shape);
    (*added)->AppendBuffer({owned->zeros.get(), input.byte_size, MemoryPlace{}});
  }
  request.BeginFlight(std::move(pass), ToNanos(now));
  request.set_queue_start_ns(ToNanos(now));
  request.lifecycle().MoveTo(RequestState::kPending, "").IgnoreError();  // cannot fail: it is new
  return RequestPtr(&owned.release()->request);
}

}  // namespace nereid
