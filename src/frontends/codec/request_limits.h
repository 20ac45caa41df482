// RequestLimits: how large and how deep what a client sends may be. A plain value.
#ifndef NEREID_FRONTENDS_CODEC_REQUEST_LIMITS_H_
#define NEREID_FRONTENDS_CODEC_REQUEST_LIMITS_H_

#include <cstdint>

namespace nereid {

struct RequestLimits {
  // Bytes of the JSON part, of each tensor sent as JSON, of a raw and of a decompressed body.
  uint64_t max_input_size = 64 << 20;
  // Levels of arrays inside one `data`.
  int max_json_depth = 100;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_REQUEST_LIMITS_H_
