// SPDX-License-Identifier: Apache-2.0
// GrpcApi: which services a gRPC port has, besides health checks and reflection. A plain value.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_API_H_
#define NEREID_FRONTENDS_GRPC_GRPC_API_H_

namespace nereid {

enum class GrpcApi {
  kInference,          // inference.GRPCInferenceService
  kTensorFlowServing,  // tensorflow.serving.PredictionService and ModelService
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_API_H_
