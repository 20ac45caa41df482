// SPDX-License-Identifier: Apache-2.0
// The careful one of the two readers of v2 request JSON. It accepts everything that Triton
// accepts (NaN, Infinity, bytes that are not UTF-8) and reports every mistake with
// Triton's text. It is slower and needs more memory than fast_json_reader.h, which leaves to it
// whatever the fast reader does not understand. Stateless.
#ifndef NEREID_FRONTENDS_CODEC_CAREFUL_JSON_READER_H_
#define NEREID_FRONTENDS_CODEC_CAREFUL_JSON_READER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>

#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/codec/v2_document.h"

namespace nereid {

// Reads `json` into `document` and `buffers`, both initially empty. INVALID_ARGUMENT for a mistake
// of the client, NOT_FOUND for a shared-memory region (none can be registered); after an error the
// content of both is unspecified. `limits` bounds the size and the nesting of each tensor sent as
// JSON.
absl::Status ReadJsonCarefully(absl::string_view json, const RequestLimits& limits,
                               RequestBuffers* buffers, V2Document* document);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_CAREFUL_JSON_READER_H_
