// SPDX-License-Identifier: Apache-2.0
// The fast one of the two readers of predict requests: numbers of a single input, straight from the
// text into a tensor. It has no error texts: anything else, and any mistake, is left to the careful
// reader (tfs_request_reader.h), with which it agrees. Thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_FAST_READER_H_
#define NEREID_FRONTENDS_TFS_TFS_FAST_READER_H_

#include <absl/strings/string_view.h>

#include <cstddef>

#include "config/compiled_model.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/tfs/tfs_request_reader.h"
#include "model/shape.h"

namespace nereid {

// The tensor of the signature's only input, in the memory of the buffers.
struct TfsFastTensor {
  Shape shape;  // as the lists have it
  const char* bytes = nullptr;
  size_t size = 0;
};

// Fills `call` but its method, which is predict, and `tensor`. False if this reader cannot decide;
// the content of both, and of `buffers`, is then unspecified.
// REQUIRES: `json` is followed by kJsonPadding readable bytes, unless it is empty.
bool ReadTfsFast(absl::string_view json, const RequestLimits& limits, const CompiledModel& model,
                 RequestBuffers* buffers, TfsCall* call, TfsFastTensor* tensor);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_FAST_READER_H_
