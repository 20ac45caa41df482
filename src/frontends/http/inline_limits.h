// How much compressing, decompressing and reading of JSON an I/O thread does by itself. Its other
// connections wait meanwhile, so it is to be some milliseconds at most; having another thread do it
// costs a tenth of one, so it is not worth while for little. The figures are in docs/adr/0015.
// Constants.
#ifndef NEREID_FRONTENDS_HTTP_INLINE_LIMITS_H_
#define NEREID_FRONTENDS_HTTP_INLINE_LIMITS_H_

#include <cstdint>

namespace nereid {

// A compressed body that is larger is decompressed elsewhere from its beginning.
inline constexpr uint64_t kMostInlineCompressedBytes = 64 << 10;
// Of a smaller one this much; the rest elsewhere. It may become a thousand times as large.
inline constexpr uint64_t kMostInlinePlainBytes = 256 << 10;
// An answer that is larger, by estimate, is compressed elsewhere.
inline constexpr uint64_t kMostInlineAnswerBytes = 64 << 10;

// Of a plain body with more JSON than this the JSON is read elsewhere: a hundred thousand inputs
// take 20 ms.
inline constexpr uint64_t kMostInlineJsonBytes = 64 << 10;

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_INLINE_LIMITS_H_
