// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tfs_service.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/bind_method.h"
#include "frontends/grpc/tfs/tensor_proto.h"
#include "frontends/grpc/tfs/tfs_request.h"
#include "frontends/tfs/tfs_reports.h"
#include "frontends/tfs/tfs_servable.h"
#include "tensorflow_serving.pb.h"

namespace nereid {
namespace {

namespace serving = tensorflow::serving;

// The only kind of metadata.
constexpr char kSignatureDef[] = "signature_def";
constexpr char kSignatureDefType[] = "type.googleapis.com/tensorflow.serving.SignatureDefMap";

absl::Status GetModelStatus(Server* server, const serving::GetModelStatusRequest& request,
                            serving::GetModelStatusResponse* response) {
  ASSIGN_OR_RETURN(const TfsModelSpec spec, ReadModelSpec(request.model_spec()));
  ASSIGN_OR_RETURN(const std::optional<int64_t> version, TfsVersion(*server, spec));
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> index,
                   server->RepositoryIndex(/*ready_only=*/false));
  ASSIGN_OR_RETURN(const std::vector<const IndexEntry*> entries,
                   TfsVersions(index, spec.name, version));
  for (const IndexEntry* const entry : entries) {
    serving::ModelVersionStatus* const status = response->add_model_version_status();
    status->set_version(entry->version);
    serving::ModelVersionStatus::State state = serving::ModelVersionStatus::UNKNOWN;
    serving::ModelVersionStatus::State_Parse(TfsStateName(*entry), &state);
    status->set_state(state);
    const absl::string_view error = TfsStateError(*entry);
    if (!error.empty()) status->mutable_status()->set_error_code(serving::StatusProto::UNKNOWN);
    status->mutable_status()->set_error_message(std::string(error));
  }
  return absl::OkStatus();
}

template <typename Spec>
void AddTensors(const std::vector<TfsTensor>& tensors, const std::vector<Spec>& specs,
                const CompiledModel& model,
                google::protobuf::Map<std::string, tensorflow::TensorInfo>* out) {
  for (const TfsTensor& tensor : tensors) {
    const Spec& spec = specs[tensor.index];
    tensorflow::TensorInfo& info = (*out)[tensor.key];
    info.set_name(spec.name);
    info.set_dtype(ToTensorFlow(spec.data_type));
    info.mutable_tensor_shape();  // also a scalar has one
    for (const int64_t dim : TfsShape(spec, model)) {
      info.mutable_tensor_shape()->add_dim()->set_size(dim);
    }
  }
}

serving::SignatureDefMap Signatures(const CompiledModel& model) {
  serving::SignatureDefMap map;
  for (const auto& [name, signature] : model.tfs.signatures) {
    tensorflow::SignatureDef& def = (*map.mutable_signature_def())[name];
    AddTensors(signature.inputs, model.inputs, model, def.mutable_inputs());
    AddTensors(signature.outputs, model.outputs, model, def.mutable_outputs());
    def.set_method_name(TfsMethodName(signature.method));
  }
  return map;
}

absl::Status GetModelMetadata(Server* server, const serving::GetModelMetadataRequest& request,
                              serving::GetModelMetadataResponse* response) {
  for (const std::string& field : request.metadata_field()) {
    if (field == kSignatureDef) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("Metadata field ", field.substr(0, kMaxNameBytes),
                     " is not supported: this server knows ", kSignatureDef));
  }
  if (request.metadata_field().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request needs a metadata_field: ", kSignatureDef));
  }
  ASSIGN_OR_RETURN(const TfsModelSpec spec, ReadModelSpec(request.model_spec()));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServingModel> model, FindTfsModel(*server, spec));
  response->mutable_model_spec()->set_name(model->config().name);
  response->mutable_model_spec()->mutable_version()->set_value(model->config().version);
  serving::SignatureDefMap signatures = Signatures(model->config());
  MakeUtf8(&signatures);
  google::protobuf::Any& any = (*response->mutable_metadata())[kSignatureDef];
  any.set_type_url(kSignatureDefType);
  any.set_value(signatures.SerializeAsString());
  return absl::OkStatus();
}

}  // namespace

void AddTfsMethods(Server* server, AdminService::Methods* methods) {
  methods->emplace("/tensorflow.serving.PredictionService/GetModelMetadata",
                   BindModelMethod(server, &GetModelMetadata));
  methods->emplace("/tensorflow.serving.ModelService/GetModelStatus",
                   BindMethod(server, &GetModelStatus));
}

absl::string_view InsteadOfTfsMethod(absl::string_view full_name) {
  if (full_name == "/tensorflow.serving.PredictionService/MultiInference") {
    return "call Classify or Regress for each signature";
  }
  if (full_name == "/tensorflow.serving.PredictionService/PredictStreamed") {
    return "call Predict, or ModelStreamInfer on the port of --grpc-port";
  }
  if (full_name == "/tensorflow.serving.SessionService/SessionRun") {
    return "call Predict with a signature of the model";
  }
  if (full_name == "/tensorflow.serving.ModelService/HandleReloadConfigRequest") {
    return "models come from the model repository, and are loaded with RepositoryModelLoad or "
           "--model-control-mode=poll";
  }
  return {};
}

}  // namespace nereid
