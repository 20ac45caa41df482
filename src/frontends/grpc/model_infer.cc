// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/model_infer.h"

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/model_version.h"
#include "frontends/grpc/proto_writer.h"

namespace nereid {

absl::StatusOr<UnaryInfer::Asked> ModelInfer::FindModel() {
  RETURN_IF_ERROR(CheckLength("name of the model", received_.model_name()));
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(received_.model_version()));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   environment().server->FindModel(received_.model_name(), version));
  if (model->config().decoupled) {
    return absl::UnimplementedError(
        "ModelInfer RPC doesn't support models with decoupled transaction policy");
  }
  return Asked{std::move(model), version};
}

Flight::Outputs ModelInfer::MakeOutputs() {
  const GrpcEnvironment& env = environment();
  return env.allocators.For(formats_, env.compression == GrpcCompression::kNone);
}

absl::StatusOr<OutMessage> ModelInfer::Write(std::unique_ptr<InferResponse> response) {
  // One per thread: it keeps its memory.
  static thread_local ProtoWriter writer;
  ASSIGN_OR_RETURN(const absl::Span<const WirePiece> pieces, writer.Write(*response, formats_));
  OutMessage message(pieces, &response);
  writer.Clear();
  return message;
}

}  // namespace nereid
