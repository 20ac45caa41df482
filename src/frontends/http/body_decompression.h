// BodyDecompression: a request body that came compressed, on its way to the plain one. What comes
// out lands where it stays, and is charged as it grows. Can be paused, and goes on on any thread.
// Thread-compatible; owned by the request that it is for.
#ifndef NEREID_FRONTENDS_HTTP_BODY_DECOMPRESSION_H_
#define NEREID_FRONTENDS_HTTP_BODY_DECOMPRESSION_H_

#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/budget.h"
#include "frontends/codec/compression.h"
#include "frontends/http/http_body.h"

namespace nereid {

class BodyDecompression {
 public:
  // `compressed` may be null, which is no compressed body. Of the plain one the byte at
  // `aligned_offset` lies on a 64-byte boundary; at most `max_size` bytes may come out, and
  // `budget`, which must outlive the body, pays for them. REQUIRES: not kIdentity.
  BodyDecompression(ContentCoding coding, std::shared_ptr<HttpBody> compressed,
                    size_t aligned_offset, uint64_t max_size, Budget* budget);

  // Goes on until all has come out: true; or until filled() is `pause_at`, or more before the call:
  // false. INVALID_ARGUMENT for a body that is damaged or too large, UNAVAILABLE without memory.
  absl::StatusOr<bool> Run(uint64_t pause_at);
  // How much has come out.
  uint64_t filled() const { return decompressor_.filled(); }
  // The plain body. Lets go of the compressed one. REQUIRES: Run has returned true.
  std::shared_ptr<HttpBody> Finish();

 private:
  absl::StatusOr<absl::Span<char>> MakeRoom(uint64_t filled, uint64_t wish);

  std::shared_ptr<HttpBody> compressed_;
  const size_t aligned_offset_;
  Budget* const budget_;
  Decompressor decompressor_;
  std::shared_ptr<HttpBody> plain_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_BODY_DECOMPRESSION_H_
