// SPDX-License-Identifier: Apache-2.0
// BodyDecompression: turns a compressed request body into the plain one. The output is written
// straight to its final place and is charged as it grows. Can be paused, and resumed on any thread.
// Thread-compatible; owned by its request.
#ifndef NEREID_FRONTENDS_CODEC_BODY_DECOMPRESSION_H_
#define NEREID_FRONTENDS_CODEC_BODY_DECOMPRESSION_H_

#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/budget.h"
#include "frontends/codec/compression.h"
#include "frontends/codec/received_body.h"

namespace nereid {

// RoomForPlain (compression.h) in `*plain`, which is made by the first call, with the byte at
// `aligned_offset` on a 64-byte boundary. `budget` pays for it, on behalf of `holder`, who may be
// null. UNAVAILABLE without memory.
absl::StatusOr<absl::Span<char>> MakeRoomForPlain(std::shared_ptr<ReceivedBody>* plain,
                                                  size_t aligned_offset, Budget* budget,
                                                  const std::shared_ptr<Holder>& holder,
                                                  uint64_t filled, uint64_t wish);

class BodyDecompression {
 public:
  // `compressed` may be null, which is not a valid compressed body. The byte at `aligned_offset` of
  // the plain body is placed on a 64-byte boundary. The output may have at most `max_size` bytes
  // and is paid for by `budget`, which must outlive the body. REQUIRES: not kIdentity.
  BodyDecompression(ContentCoding coding, std::shared_ptr<ReceivedBody> compressed,
                    size_t aligned_offset, uint64_t max_size, Budget* budget);

  // Continues until all output is written, and returns true; or until filled() is at least
  // `pause_at`, which may be so before the call, and returns false. INVALID_ARGUMENT for a body
  // that is damaged or too large, UNAVAILABLE without memory.
  absl::StatusOr<bool> Run(uint64_t pause_at);
  // Bytes of output so far.
  uint64_t filled() const { return decompressor_.filled(); }
  // The plain body. Releases the compressed one. REQUIRES: Run has returned true.
  std::shared_ptr<ReceivedBody> Finish();

 private:
  absl::StatusOr<absl::Span<char>> MakeRoom(uint64_t filled, uint64_t wish);

  std::shared_ptr<ReceivedBody> compressed_;
  const size_t aligned_offset_;
  Budget* const budget_;
  Decompressor decompressor_;
  std::shared_ptr<ReceivedBody> plain_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_BODY_DECOMPRESSION_H_
