// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes as a response from a cache. Bytes that are accepted must be packed the same
// way again, except booleans, which may be any non-zero byte.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "cache/packed_response.h"
#include "infer/testing/fake_model.h"

namespace {

class HeapAllocator final : public nereid::OutputAllocator {
 public:
  absl::Status Allocate(const char*, void*, nereid::OutputBuffer* buffer) const override {
    if (buffer->byte_size > 0) buffer->base = new char[buffer->byte_size];
    return absl::OkStatus();
  }
  void Release(const nereid::OutputBuffer& buffer) const override {
    delete[] static_cast<char*>(buffer.base);
  }
};

std::unique_ptr<nereid::InferResponse> NewResponse() {
  static const HeapAllocator allocator;
  static const auto model = nereid::FakeModel::Make(nereid::ModelBuilder("m")
                                                        .Output("a", nereid::DataType::kInt8, {-1})
                                                        .Output("b", nereid::DataType::kBytes, {-1})
                                                        .Output("c", nereid::DataType::kFp32, {2}));
  return std::make_unique<nereid::InferResponse>(nullptr, model, "", &allocator, nullptr);
}

std::string Pack(const nereid::InferResponse& response) {
  if (!nereid::CheckPackable(response).ok()) std::abort();
  std::string bytes(nereid::PackedSize(response), '\0');
  nereid::PackResponse(response, bytes.data());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy with nothing after it, so that reading too far is detected.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto response = NewResponse();
  if (!nereid::UnpackResponse(bytes, response.get()).ok()) return 0;
  const std::string packed = Pack(*response);
  if (packed.size() != bytes.size()) std::abort();
  const auto again = NewResponse();
  if (!nereid::UnpackResponse(packed, again.get()).ok() || Pack(*again) != packed) std::abort();
  return 0;
}
