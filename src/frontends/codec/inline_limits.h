// SPDX-License-Identifier: Apache-2.0
// How much compressing, decompressing and reading of messages an I/O thread does itself. Its other
// connections wait meanwhile, so it should take some milliseconds at most. Moving work to another
// thread costs a tenth of a millisecond, which is not worthwhile for little work. The figures are
// in docs/adr/0015. Constants.
#ifndef NEREID_FRONTENDS_CODEC_INLINE_LIMITS_H_
#define NEREID_FRONTENDS_CODEC_INLINE_LIMITS_H_

#include <cstdint>

namespace nereid {

// A compressed body or message larger than this is decompressed on another thread from the start.
inline constexpr uint64_t kMostInlineCompressedBytes = 64 << 10;
// Of a smaller one, this much output is produced on the I/O thread and the rest elsewhere. The
// output may be a thousand times as large as the input.
inline constexpr uint64_t kMostInlinePlainBytes = 256 << 10;
// Output of another thread between two checks whether the client still waits: some milliseconds of
// work.
inline constexpr uint64_t kPlainBytesPerStep = 1 << 20;
// An answer whose estimated size is larger than this is written and compressed on another thread;
// tensors that are sent in binary and uncompressed do not count.
inline constexpr uint64_t kMostInlineAnswerBytes = 64 << 10;

// If a plain body has more JSON than this, another thread reads the JSON: a hundred thousand inputs
// take 20 ms.
inline constexpr uint64_t kMostInlineJsonBytes = 64 << 10;

// The same for protobuf, in bytes that have to be looked at: raw tensors do not count, and packed
// floats and the content of byte strings, which are only copied, count a sixteenth. In the worst
// case these bytes become 32,000 objects, which are made in four milliseconds.
inline constexpr uint64_t kMostInlineProtoBytes = 64 << 10;
// Fields of an inference request, between its raw tensors, that an I/O thread passes.
inline constexpr uint64_t kMostInlineProtoFields = 16 << 10;

// The longest message of a gRPC method that an I/O thread answers at once: whatever it holds, it is
// read in a millisecond.
inline constexpr uint64_t kMostAtOnceBytes = 64 << 10;

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_INLINE_LIMITS_H_
