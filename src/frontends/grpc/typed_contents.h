// SPDX-License-Identifier: Apache-2.0
// The bytes of a tensor that was sent as typed values (InferTensorContents). Pure functions,
// thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_TYPED_CONTENTS_H_
#define NEREID_FRONTENDS_GRPC_TYPED_CONTENTS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>

#include "frontends/codec/request_buffers.h"
#include "grpc_service.pb.h"
#include "model/data_type.h"

namespace nereid {

// Names of a tensor, for error texts.
struct TensorOfModel {
  absl::string_view tensor;
  absl::string_view model;
};

// The tensor as raw bytes: a view into `contents` if the values have the tensor's layout there,
// otherwise converted and kept in `buffers`. INVALID_ARGUMENT for a field that does not belong to
// `data_type`, for a value that does not fit into it, or for more than one field; UNAVAILABLE if
// memory is exhausted.
absl::StatusOr<absl::string_view> TypedContents(const TensorOfModel& names, DataType data_type,
                                                const inference::InferTensorContents& contents,
                                                RequestBuffers* buffers);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TYPED_CONTENTS_H_
