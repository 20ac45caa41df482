// RequestBuffers: memory of one request's tensors that are not views into the received body:
// tensors sent as JSON, and binary ones that had to be moved to an aligned place. Owned by the
// frontend's request, next to the body; outlives the request's flight. Thread-compatible.
#ifndef NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_
#define NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace nereid {

class RequestBuffers {
 public:
  static constexpr size_t kAlignment = 64;

  RequestBuffers() = default;
  RequestBuffers(const RequestBuffers&) = delete;
  RequestBuffers& operator=(const RequestBuffers&) = delete;

  // `byte_size` bytes on a 64-byte boundary, not initialised; null when memory is short. Valid
  // until Clear(); `byte_size` 0 gives a pointer that must not be read.
  char* Allocate(size_t byte_size);
  // Keeps `bytes` and returns where they lie.
  const char* Adopt(std::string bytes);
  // Copies a binary tensor that lies where its elements must not lie, and counts the copy. Null
  // when memory is short.
  const char* CopyAligned(const char* bytes, size_t byte_size);
  // Forgets everything; the object can serve the next request.
  void Clear();

  // Bytes copied by CopyAligned since the last Clear().
  uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  // Small requests fit in here and cost no allocation.
  static constexpr size_t kInlineBytes = 512;

  alignas(kAlignment) char inline_[kInlineBytes];
  size_t inline_used_ = 0;
  absl::InlinedVector<std::unique_ptr<char[], Free>, 2> blocks_;
  absl::InlinedVector<std::unique_ptr<std::string>, 1> adopted_;
  uint64_t bytes_copied_ = 0;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REQUEST_BUFFERS_H_
