// SPDX-License-Identifier: Apache-2.0
// Input tensors from TensorFlow's messages: TensorProto, and features of Examples. Elements that
// lie in the message as in a tensor stay there. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_TFS_TENSOR_PROTO_H_
#define NEREID_FRONTENDS_GRPC_TFS_TENSOR_PROTO_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>

#include "config/compiled_model.h"
#include "frontends/codec/request_buffers.h"
#include "infer/infer_request.h"
#include "model/data_type.h"
#include "tensorflow.pb.h"

namespace nereid {

// The most bytes of a tensor that says more than its message: by values that stand for several
// elements, or by features that examples share.
inline constexpr uint64_t kMostFilledBytes = 64 << 20;

// DT_INVALID for a type that TensorFlow does not have.
tensorflow::DataType ToTensorFlow(DataType type);

// Bytes of elements that the message does not have one by one.
uint64_t FilledBytes(const tensorflow::TensorProto& tensor);

// Adds `tensor`, which clients call `key`, to `request` as the input `spec` of its model. Views
// `tensor`, or memory from `buffers`. INVALID_ARGUMENT if it is no tensor of that type.
absl::Status AddTensorProto(absl::string_view key, const tensorflow::TensorProto& tensor,
                            const InputSpec& spec, InferRequest* request, RequestBuffers* buffers);

// Adds a feature, as each row has it, to `request` as the input `spec` of its model, in memory from
// `buffers`. INVALID_ARGUMENT if the rows have different numbers of elements, or others than the
// input takes.
absl::Status AddFeatures(absl::string_view key, absl::Span<const tensorflow::Feature* const> rows,
                         const InputSpec& spec, InferRequest* request, RequestBuffers* buffers);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TFS_TENSOR_PROTO_H_
