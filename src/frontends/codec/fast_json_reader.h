// The fast one of the two readers of v2 request JSON: simdjson on demand, numbers straight into
// packed tensor bytes. It knows no error texts: whatever is unusual or wrong it leaves to
// careful_json_reader.h, which has the last word. Thread-safe (one parser a thread).
#ifndef NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_
#define NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_

#include <absl/strings/string_view.h>

#include <cstdint>

#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/codec/v2_document.h"

namespace nereid {

// Bytes behind the JSON text that must be readable; what they hold does not matter.
inline constexpr size_t kJsonPadding = 64;

// Reads `json` into `document` and `buffers`, both empty before. False: this reader cannot tell
// (NaN, bytes that are not UTF-8, shared memory, any mistake); both then hold rubbish.
// JSON tensors larger or deeper than `limits` are left to the careful reader as well.
bool ReadJsonFast(absl::string_view json, const RequestLimits& limits, RequestBuffers* buffers,
                  V2Document* document);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_
