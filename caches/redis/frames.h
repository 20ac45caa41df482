// SPDX-License-Identifier: Apache-2.0
// Several buffers as one value, as stored by Redis, and back: "NRC1", uint32 number of buffers,
// uint64 size of each, their bytes; little-endian. Stateless.
#ifndef NEREID_CACHES_REDIS_FRAMES_H_
#define NEREID_CACHES_REDIS_FRAMES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nereid_cache {

// A value with room for buffers of these sizes, and the start of each of them.
struct FramedValue {
  std::string value;
  std::vector<char*> buffers;  // into `value`
};
// `framed` is filled in place, so that the pointers stay valid.
void MakeFrames(const std::vector<size_t>& sizes, FramedValue* framed);

// The buffers in `value`; none if it is not such a value (other programs may write to the same
// Redis).
std::optional<std::vector<std::string_view>> ReadFrames(std::string_view value);

}  // namespace nereid_cache

#endif  // NEREID_CACHES_REDIS_FRAMES_H_
