// SPDX-License-Identifier: Apache-2.0
// Content codings of HTTP bodies: gzip and deflate (the zlib format). The functions are pure and
// thread-safe; a Decompressor is thread-compatible.
#ifndef NEREID_FRONTENDS_CODEC_COMPRESSION_H_
#define NEREID_FRONTENDS_CODEC_COMPRESSION_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <memory>
#include <string>

namespace nereid {

enum class ContentCoding { kIdentity, kGzip, kDeflate };

// How much time a compression may take to find a shorter output. kLow is up to ten times as fast.
enum class CompressionEffort { kLow, kUsual };

// "gzip", "deflate" or "identity".
const char* ContentCodingName(ContentCoding coding);

// The value of a Content-Encoding header; empty means identity. UNIMPLEMENTED "Unsupported
// compression type" for any other coding.
absl::StatusOr<ContentCoding> ParseContentEncoding(absl::string_view value);

// The coding for the response to a request with this Accept-Encoding header: the one with the
// highest weight, and the first if there are several. Unknown codings, `*` and weights of 0 do not
// count.
ContentCoding ChooseContentCoding(absl::string_view accept_encoding);

// Provides room for the output of Decompress. Returns one contiguous place with room for `wish`
// bytes, more than `filled`, whose first `filled` bytes are the output so far. If the place
// changes, the bytes written so far are kept. An error ends the decompression.
using RoomForPlain =
    absl::FunctionRef<absl::StatusOr<absl::Span<char>>(uint64_t filled, uint64_t wish)>;

// A decompression that can be paused, and resumed on any thread. Errors of Run: INVALID_ARGUMENT if
// `compressed` is damaged or the output would exceed `max_size` bytes; errors of `make_room`. After
// an error Run must not be called again.
class Decompressor {
 public:
  // `compressed` must outlive the decompressor. REQUIRES: not kIdentity.
  Decompressor(ContentCoding coding, absl::string_view compressed, uint64_t max_size);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Continues until all output is written, and returns true; or until filled() is at least
  // `pause_at`, which may be so before the call, and returns false.
  absl::StatusOr<bool> Run(uint64_t pause_at, RoomForPlain make_room);
  // Bytes of output so far.
  uint64_t filled() const { return filled_; }

 private:
  struct Zlib;

  const ContentCoding coding_;
  const uint64_t max_size_;
  absl::string_view rest_;  // compressed input not yet consumed
  absl::Span<char> plain_;  // the output room
  uint64_t filled_ = 0;
  std::unique_ptr<Zlib> zlib_;
};

// Decompresses everything at once. Returns the size of the output; errors of Decompressor::Run.
absl::StatusOr<uint64_t> Decompress(ContentCoding coding, absl::string_view compressed,
                                    uint64_t max_size, RoomForPlain make_room);

// The most memory that Compress uses for `size` bytes.
uint64_t CompressedBound(uint64_t size);

// The concatenation of `pieces`, compressed. INTERNAL if the library fails.
absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces);
// As above, but asks from time to time whether the result is still wanted. CANCELLED if it is not.
absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces,
                                     absl::FunctionRef<bool()> wanted,
                                     CompressionEffort effort = CompressionEffort::kUsual);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_COMPRESSION_H_
