// Content codings of HTTP bodies: gzip and deflate (the zlib format). Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_COMPRESSION_H_
#define NEREID_FRONTENDS_CODEC_COMPRESSION_H_

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

// INVALID_ARGUMENT when `compressed` is damaged, or more than `max_size` bytes would come out.
absl::StatusOr<std::string> Decompress(ContentCoding coding, absl::string_view compressed,
                                       uint64_t max_size);

// The concatenation of `pieces`, compressed. INTERNAL when the library fails.
absl::StatusOr<std::string> Compress(ContentCoding coding,
                                     absl::Span<const absl::string_view> pieces);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_COMPRESSION_H_
