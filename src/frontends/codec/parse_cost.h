// What it takes in memory to read a JSON text, beside the text and what comes out. Pure.
#ifndef NEREID_FRONTENDS_CODEC_PARSE_COST_H_
#define NEREID_FRONTENDS_CODEC_PARSE_COST_H_

#include <absl/status/statusor.h>

#include <cstdint>

#include "base/budget.h"
#include "frontends/codec/request_buffers.h"

namespace nereid {

// Of the fast reader: four bytes for the place of a token, which may be one byte long, and a copy
// of the strings.
inline constexpr uint64_t kIndexCostPerByte = 6;
// Of the careful reader: a value takes 16 bytes in the tree and as many on the stack from which it
// is built, which grows by half; the shortest value and its comma take two bytes.
inline constexpr uint64_t kTreeCostPerByte = 20;

// Reading a shorter text needs so little that only the number of threads that read counts.
inline constexpr uint64_t kCheapParse = 64 << 10;

// The units for reading a text of `size` bytes, to be held meanwhile.
inline absl::StatusOr<BudgetUnits> TakeParseWorkspace(uint64_t size, uint64_t cost_per_byte,
                                                      RequestBuffers* buffers) {
  if (size <= kCheapParse) return BudgetUnits();
  return buffers->TakeWorkspace(size * cost_per_byte);
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_PARSE_COST_H_
