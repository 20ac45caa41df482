// SPDX-License-Identifier: Apache-2.0
// The fast one of the two readers of v2 request JSON: simdjson on demand, with numbers written
// straight into packed tensor bytes. It has no error texts: anything unusual or wrong is left to
// careful_json_reader.h, which decides. Thread-safe (one parser per thread). Its parts also serve
// the fast reader of generate requests.
#ifndef NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_
#define NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_

#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>
#include <simdjson.h>

#include <cstddef>
#include <string>

#include "frontends/codec/fast_tensor.h"
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

// ---- Parts. Each returns false to leave the text to a careful reader.

// Calls `read` with the object that `json`, followed by kJsonPadding readable bytes, is. True if
// `read` returned true and has read the object to its end, and nothing follows it.
bool ReadObjectFast(absl::string_view json,
                    absl::FunctionRef<bool(simdjson::ondemand::object root)> read);
// A string of at most `limit` bytes.
bool ReadStringFast(simdjson::ondemand::value value, std::string* out,
                    size_t limit = kMaxNameBytes);
// The value of a request parameter: a string, a boolean or a number.
bool ReadParameterFast(simdjson::ondemand::value value, ParameterValue* out);
// The value of kNonFiniteParameter.
bool ReadNonFiniteFast(simdjson::ondemand::value value, NonFinite* out);
// The bounds of a tensor in `json`.
inline TensorBounds BoundsFor(absl::string_view json, const RequestLimits& limits) {
  // The last one: each element takes at least a digit and a separator.
  return {limits.max_input_size, limits.max_json_depth, json.size() / 2 + 1};
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_FAST_JSON_READER_H_
