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

// "gzip", "deflate" or "identity".
const char* ContentCodingName(ContentCoding coding);

// The value of a Content-Encoding header; empty means identity. UNIMPLEMENTED "Unsupported
// compression type" for any other coding.
absl::StatusOr<ContentCoding> ParseContentEncoding(absl::string_view value);

// What to answer to an Accept-Encoding header: the coding of the highest weight, the first of
// several. Codings we do not know, `*`, and weights of 0 do not count.
ContentCoding ChooseContentCoding(absl::string_view accept_encoding);

// Gives room for what Decompress writes: all of it, of which `filled` bytes are written, at one
// place with room for `wish` bytes, more than `filled`. What is written stays when the place
// changes. An error ends the decompression.
using RoomForPlain =
    absl::FunctionRef<absl::StatusOr<absl::Span<char>>(uint64_t filled, uint64_t wish)>;

// A decompression that can be paused, and goes on where it was, on any thread. Errors of Run:
// INVALID_ARGUMENT when `compressed` is damaged, or more than `max_size` bytes would come out;
// errors of `make_room`. After one Run is not to be called any more.
class Decompressor {
 public:
  // `compressed` must outlive this. REQUIRES: not kIdentity.
  Decompressor(ContentCoding coding, absl::string_view compressed, uint64_t max_size);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Goes on until all has come out: true; or until filled() is `pause_at`, or more before the call:
  // false.
  absl::StatusOr<bool> Run(uint64_t pause_at, RoomForPlain make_room);
  // How much has come out.
  uint64_t filled() const { return filled_; }

 private:
  struct Zlib;

  const ContentCoding coding_;
  const uint64_t max_size_;
  absl::string_view rest_;  // of what is compressed
  absl::Span<char> plain_;  // the room
  uint64_t filled_ = 0;
  std::unique_ptr<Zlib> zlib_;
};

// All at once. Returns the size of what came out; errors of Decompressor::Run.
absl::StatusOr<uint64_t> Decompress(ContentCoding coding, absl::string_view compressed,
                                    uint64_t max_size, RoomForPlain make_room);

// The most that Compress takes for `size` bytes.
uint64_t CompressedBound(uint64_t size);

// The concatenation of `pieces`, compressed. INTERNAL when the library fails.
absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces);
// The same; asks every now and then whether the result is still wanted. CANCELLED if not.
absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces,
                                     absl::FunctionRef<bool()> wanted);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_COMPRESSION_H_
