#include "frontends/grpc/stream_messages.h"

#include <grpcpp/support/slice.h>

#include "grpc_service.pb.h"

namespace nereid {
namespace {

using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;

void Name(const RequestNames& names, bool is_final, ModelInferResponse* response) {
  response->set_id(names.id);
  response->set_model_name(names.model);
  response->set_model_version(names.version);
  (*response->mutable_parameters())["triton_final_response"].set_bool_param(is_final);
}

grpc::ByteBuffer ToByteBuffer(const ModelStreamInferResponse& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

grpc::ByteBuffer MakeRefusal(absl::string_view error, absl::string_view id) {
  ModelStreamInferResponse message;
  message.set_error_message(std::string(error));
  message.mutable_infer_response()->set_id(std::string(id));
  return ToByteBuffer(message);
}

grpc::ByteBuffer MakeErrorResponse(absl::string_view error, const RequestNames& names,
                                   bool is_final) {
  ModelStreamInferResponse message;
  message.set_error_message(std::string(error));
  Name(names, is_final, message.mutable_infer_response());
  return ToByteBuffer(message);
}

grpc::ByteBuffer MakeEmptyFinalResponse(const RequestNames& names) {
  ModelStreamInferResponse message;
  Name(names, /*is_final=*/true, message.mutable_infer_response());
  return ToByteBuffer(message);
}

}  // namespace nereid
