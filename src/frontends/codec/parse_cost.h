// The memory needed to read a JSON text, beyond the text and the result. Pure.
#ifndef NEREID_FRONTENDS_CODEC_PARSE_COST_H_
#define NEREID_FRONTENDS_CODEC_PARSE_COST_H_

#include <absl/status/statusor.h>

#include <cstdint>

#include "base/budget.h"
#include "frontends/codec/request_buffers.h"

namespace nereid {

// Fast reader: four bytes for the position of each token, which may be one byte long, and a copy of
// the strings.
inline constexpr uint64_t kIndexCostPerByte = 6;
// Careful reader: a value takes 16 bytes in the tree and as many on the stack from which the tree
// is built, which grows by half; the shortest value and its comma take two bytes.
inline constexpr uint64_t kTreeCostPerByte = 20;

// Reading a shorter text needs so little memory that only the number of reading threads matters.
inline constexpr uint64_t kCheapParse = 64 << 10;

// Takes the units for reading a text of `size` bytes. Hold them until it has been read.
inline absl::StatusOr<BudgetUnits> TakeParseWorkspace(uint64_t size, uint64_t cost_per_byte,
                                                      RequestBuffers* buffers) {
  if (size <= kCheapParse) return BudgetUnits();
  return buffers->TakeWorkspace(size * cost_per_byte);
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_PARSE_COST_H_
