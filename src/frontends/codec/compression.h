// Content codings of HTTP bodies: gzip and deflate (the zlib format). Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_COMPRESSION_H_
#define NEREID_FRONTENDS_CODEC_COMPRESSION_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
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

// Returns the size of what came out. INVALID_ARGUMENT when `compressed` is damaged, or more than
// `max_size` bytes would come out; errors of `make_room`. REQUIRES: not kIdentity.
absl::StatusOr<uint64_t> Decompress(ContentCoding coding, absl::string_view compressed,
                                    uint64_t max_size, RoomForPlain make_room);

// The most that Compress takes for `size` bytes.
uint64_t CompressedBound(uint64_t size);

// The concatenation of `pieces`, compressed. INTERNAL when the library fails.
absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_COMPRESSION_H_
