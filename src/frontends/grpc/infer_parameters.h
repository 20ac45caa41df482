// Reads the parameters of a ModelInferRequest and of its tensors. Pure functions, thread-safe.
// All errors are INVALID_ARGUMENT unless noted.
#ifndef NEREID_FRONTENDS_GRPC_INFER_PARAMETERS_H_
#define NEREID_FRONTENDS_GRPC_INFER_PARAMETERS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "grpc_service.pb.h"
#include "infer/infer_request.h"

namespace nereid {

using GrpcParameters = google::protobuf::Map<std::string, inference::InferParameter>;

// Sets what `request` has a place for (sequence, priority, timeout) and adds the others as they
// are. UNIMPLEMENTED for a text as sequence id that is longer than kMaxCorrelationIdLength.
absl::Status ReadRequestParameters(const GrpcParameters& parameters, InferRequest* request);

// Whether the client of a stream wants to hear of an end without a response.
bool WantsEmptyFinalResponse(const GrpcParameters& parameters);

// The shared-memory region that holds tensor `tensor`; null if none is named.
absl::StatusOr<const std::string*> SharedMemoryRegionOf(const std::string& tensor,
                                                        const GrpcParameters& parameters);

// How many classes are asked for of an output; 0 if the tensor itself is.
absl::StatusOr<uint64_t> ClassificationOf(const GrpcParameters& parameters);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_INFER_PARAMETERS_H_
