// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/stream_messages.h"

#include <string>

#include "base/outside_text.h"
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

// Errors are texts of backends, too.
void SetError(absl::string_view error, ModelStreamInferResponse* message) {
  std::string memory;
  message->set_error_message(std::string(ToUtf8(error, &memory)));
}

OutMessage ToMessage(const ModelStreamInferResponse& message) {
  return OutMessage(message.SerializeAsString());
}

}  // namespace

OutMessage MakeRefusal(absl::string_view error, absl::string_view id) {
  ModelStreamInferResponse message;
  SetError(error, &message);
  message.mutable_infer_response()->set_id(std::string(id));
  return ToMessage(message);
}

OutMessage MakeErrorResponse(absl::string_view error, const RequestNames& names, bool is_final) {
  ModelStreamInferResponse message;
  SetError(error, &message);
  Name(names, is_final, message.mutable_infer_response());
  return ToMessage(message);
}

OutMessage MakeEmptyFinalResponse(const RequestNames& names) {
  ModelStreamInferResponse message;
  Name(names, /*is_final=*/true, message.mutable_infer_response());
  return ToMessage(message);
}

}  // namespace nereid
