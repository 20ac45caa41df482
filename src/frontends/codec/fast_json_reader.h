// The fast one of the two readers of v2 request JSON: simdjson on demand, with numbers written
// straight into packed tensor bytes. It has no error texts: anything unusual or wrong is left to
// careful_json_reader.h, which decides. Thread-safe (one parser per thread).
#ifndef NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_
#define NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_

#include <absl/strings/string_view.h>

#include <cstdint>

#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/codec/v2_document.h"

namespace nereid {

// Bytes after the JSON text that must be readable; their content does not matter.
inline constexpr size_t kJsonPadding = 64;

// Reads `json` into `document` and `buffers`, both initially empty. Returns false if this reader
// cannot decide (NaN, bytes that are not UTF-8, shared memory, any mistake); the content of both is
// then unspecified. JSON tensors larger or deeper than `limits` are left to the careful reader,
// too.
bool ReadJsonFast(absl::string_view json, const RequestLimits& limits, RequestBuffers* buffers,
                  V2Document* document);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_
