// SPDX-License-Identifier: Apache-2.0
// Part of the careful JSON reader: one `data` array into packed tensor bytes. Pure functions.
#ifndef NEREID_FRONTENDS_CODEC_CAREFUL_TENSOR_H_
#define NEREID_FRONTENDS_CODEC_CAREFUL_TENSOR_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>

#include "frontends/codec/json_access.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/v2_document.h"

namespace nereid {

// As ReadTensorFast, but reports what is wrong with `data`: INVALID_ARGUMENT. REQUIRES: `data`
// nests no deeper than the request's limit (json_parse.h ensures this).
// `data_type` is the text that input->data_type was read from.
absl::Status ReadTensorCarefully(const JsonValue& data, absl::string_view data_type,
                                 uint64_t max_tensor_bytes, RequestBuffers* buffers,
                                 V2Input* input);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_CAREFUL_TENSOR_H_
