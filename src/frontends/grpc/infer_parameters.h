// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of a ModelInferRequest and of its tensors. Pure functions, thread-safe.
// All errors are INVALID_ARGUMENT unless noted.
#ifndef NEREID_FRONTENDS_GRPC_INFER_PARAMETERS_H_
#define NEREID_FRONTENDS_GRPC_INFER_PARAMETERS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "frontends/shared_memory/shared_memory_registry.h"
#include "grpc_service.pb.h"
#include "infer/infer_request.h"

namespace nereid {

using GrpcParameters = google::protobuf::Map<std::string, inference::InferParameter>;

// Sets those fields that `request` has (sequence, priority, timeout) and adds all other parameters
// unchanged. UNIMPLEMENTED for a string sequence id longer than kMaxCorrelationIdLength.
absl::Status ReadRequestParameters(const GrpcParameters& parameters, InferRequest* request);

// Whether the client of a stream wants to be told of an end that has no response.
bool WantsEmptyFinalResponse(const GrpcParameters& parameters);

// Where in shared memory tensor `tensor` is or is to be written; nothing if no region is named.
absl::StatusOr<std::optional<SharedMemoryRange>> SharedMemoryOf(const std::string& tensor,
                                                                const GrpcParameters& parameters);

// How many classes the client requests for an output; 0 if it requests the tensor itself.
absl::StatusOr<uint64_t> ClassificationOf(const GrpcParameters& parameters);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_INFER_PARAMETERS_H_
