#include "frontends/grpc/message_slices.h"

#include <grpcpp/support/slice.h>

#include <atomic>
#include <utility>
#include <vector>

namespace nereid {
namespace {

// Keeps a response alive as long as slices point into its buffers.
class SharedResponse {
 public:
  // One reference for the caller.
  explicit SharedResponse(std::unique_ptr<InferResponse> response)
      : response_(std::move(response)) {}

  grpc::Slice MakeSlice(absl::string_view bytes) {
    references_.fetch_add(1, std::memory_order_relaxed);
    return grpc::Slice(const_cast<char*>(bytes.data()), bytes.size(), &SharedResponse::Drop, this);
  }

  static void Drop(void* shared) {
    auto* const self = static_cast<SharedResponse*>(shared);
    if (self->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
  }

 private:
  ~SharedResponse() = default;

  const std::unique_ptr<InferResponse> response_;
  std::atomic<int> references_{1};
};

}  // namespace

grpc::ByteBuffer MakeByteBuffer(absl::Span<const WirePiece> pieces,
                                std::unique_ptr<InferResponse>* response) {
  // A message without pieces of the response is one piece.
  if (pieces.size() == 1 && !pieces[0].of_response) {
    const grpc::Slice slice(pieces[0].bytes.data(), pieces[0].bytes.size());
    return grpc::ByteBuffer(&slice, 1);
  }
  auto* const shared = new SharedResponse(std::move(*response));
  std::vector<grpc::Slice> slices;
  slices.reserve(pieces.size());
  for (const WirePiece& piece : pieces) {
    slices.push_back(piece.of_response ? shared->MakeSlice(piece.bytes)
                                       : grpc::Slice(piece.bytes.data(), piece.bytes.size()));
  }
  SharedResponse::Drop(shared);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace nereid
