// SPDX-License-Identifier: Apache-2.0
// Part of the fast JSON reader: one `data` array into packed tensor bytes. Thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_FAST_TENSOR_H_
#define NEREID_FRONTENDS_CODEC_FAST_TENSOR_H_

#include <simdjson.h>

#include <cstdint>

#include "frontends/codec/request_buffers.h"
#include "frontends/codec/v2_document.h"

namespace nereid {

// Limits on what reading a tensor may cost.
struct TensorBounds {
  uint64_t max_bytes = 0;     // of one tensor
  int max_depth = 0;          // levels of arrays
  uint64_t max_elements = 0;  // the most one tensor can have in this JSON text
};

// Reads a number as the nearest double. False if it is not a number or is beyond the range of a
// double.
bool ReadDoubleFast(simdjson::ondemand::value& value, double* out);

// Reads `data` (nested or flat, row-major) as a tensor of input->data_type and input->shape into
// `buffers`, and sets input->bytes and byte_size. False means that the careful reader must decide:
// it has the words for a number that does not fit the type.
bool ReadTensorFast(simdjson::ondemand::value data, const TensorBounds& bounds,
                    RequestBuffers* buffers, V2Input* input);
// The same for a tensor of one element that is not in an array.
bool ReadElementFast(simdjson::ondemand::value element, const TensorBounds& bounds,
                     RequestBuffers* buffers, V2Input* input);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_FAST_TENSOR_H_
