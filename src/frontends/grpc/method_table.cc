// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/method_table.h"

#include <absl/strings/match.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "config/tfs_spec.h"
#include "frontends/grpc/admin_call.h"
#include "frontends/grpc/grpc_call.h"
#include "frontends/grpc/health_watch.h"
#include "frontends/grpc/method_groups.h"
#include "frontends/grpc/model_infer.h"
#include "frontends/grpc/reflection_call.h"
#include "frontends/grpc/stream_infer.h"
#include "frontends/grpc/tfs/tfs_infer.h"
#include "frontends/grpc/wire/call_head.h"

namespace nereid {
namespace {

constexpr char kModelInfer[] = "/inference.GRPCInferenceService/ModelInfer";
constexpr char kModelStreamInfer[] = "/inference.GRPCInferenceService/ModelStreamInfer";
constexpr char kHealthWatch[] = "/grpc.health.v1.Health/Watch";
// Whoever asks for one of these means gRPC, whatever the content type is.
constexpr std::array<absl::string_view, 5> kServices = {
    "/inference.GRPCInferenceService/", "/tensorflow.serving.", "/grpc.health.v1.Health/",
    "/grpc.reflection.v1.ServerReflection/", "/grpc.reflection.v1alpha.ServerReflection/"};

// Those of TensorFlow Serving's API that infer.
struct TfsRpc {
  absl::string_view path;
  TfsMethod method;
};
constexpr TfsRpc kTfsRpcs[] = {
    {"/tensorflow.serving.PredictionService/Predict", TfsMethod::kPredict},
    {"/tensorflow.serving.PredictionService/Classify", TfsMethod::kClassify},
    {"/tensorflow.serving.PredictionService/Regress", TfsMethod::kRegress},
};

bool IsOfService(absl::string_view path) {
  return std::any_of(kServices.begin(), kServices.end(),
                     [path](absl::string_view service) { return absl::StartsWith(path, service); });
}

absl::Status CheckSingleFields(const http2::Stream& stream) {
  for (size_t i = 0; i < stream.header_count(); ++i) {
    const http2::Header field = stream.header(i);
    if (!IsSingleField(field.name)) continue;  // mostly
    RETURN_IF_ERROR(CheckRepeated(field.name, stream.FindHeader(field.name), field.value));
  }
  return absl::OkStatus();
}

constexpr char kReflectionV1[] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr char kReflectionV1Alpha[] =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// ---- The call of the method `path`; null for all others. `origin` makes that of a call.

template <typename MakeOrigin>
std::shared_ptr<GrpcCall> MakeInference(absl::string_view path, const MakeOrigin& origin) {
  if (path == kModelInfer) {
    return std::make_shared<ModelInfer>(origin(kModelInfer, MessageSize::kAny));
  }
  if (path == kModelStreamInfer) {
    return std::make_shared<StreamInfer>(origin(kModelStreamInfer, MessageSize::kAny));
  }
  return nullptr;
}

template <typename MakeOrigin>
std::shared_ptr<GrpcCall> MakeTfsInference(absl::string_view path, const MakeOrigin& origin) {
  for (const TfsRpc& rpc : kTfsRpcs) {
    if (path != rpc.path) continue;
    return std::make_shared<TfsInfer>(origin(rpc.path, MessageSize::kAny), rpc.method);
  }
  return nullptr;
}

template <typename MakeOrigin>
std::shared_ptr<GrpcCall> MakeOfEveryApi(absl::string_view path, const MakeOrigin& origin) {
  if (path == kHealthWatch) {
    return std::make_shared<HealthWatch>(origin(kHealthWatch, MessageSize::kSmall));
  }
  if (path == kReflectionV1 || path == kReflectionV1Alpha) {
    const char* const method = path == kReflectionV1 ? kReflectionV1 : kReflectionV1Alpha;
    return std::make_shared<ReflectionCall>(origin(method, MessageSize::kSmall));
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<http2::StreamUser> MethodTable::OnRequest(
    const std::shared_ptr<http2::Stream>& stream,
    const std::shared_ptr<http2::Connection>& connection) {
  const absl::string_view path = stream->FindHeader(":path");
  if (!GrpcCall::IsCall(*stream)) {
    const bool is_rest =
        !IsOfService(path) && !IsGrpcContentType(stream->FindHeader("content-type"));
    if (is_rest && rest_ != nullptr) return PassOn(stream, connection);
    return GrpcCall::RefuseOther(stream.get(), is_rest ? environment_->why_no_rest : "");
  }
  if (const absl::Status single = CheckSingleFields(*stream); !single.ok()) {
    GrpcCall::Refuse(stream.get(), single);
    return nullptr;
  }
  if (const absl::Status allowed = CheckAccess(path, *stream); !allowed.ok()) {
    GrpcCall::Refuse(stream.get(), allowed);
    return nullptr;
  }
  // `method` outlives the call, unlike `path`.
  const auto origin = [&](absl::string_view method, MessageSize size) {
    return GrpcCall::Origin{environment_, connection, stream, environment_->LimitOf(method, size)};
  };
  std::shared_ptr<GrpcCall> call = environment_->api == GrpcApi::kTensorFlowServing
                                       ? MakeTfsInference(path, origin)
                                       : MakeInference(path, origin);
  if (call == nullptr) call = MakeOfEveryApi(path, origin);
  if (call == nullptr) {
    const auto found = environment_->methods.Find(path);
    if (!found.ok()) {
      GrpcCall::Refuse(stream.get(), found.status());
      return nullptr;
    }
    const auto& [name, method] = **found;
    call = std::make_shared<AdminCall>(origin(name, method.size()), &method);
  }
  return call->ReadHead() ? call : nullptr;
}

bool MethodTable::OnNoRoom(http2::Stream* stream, const absl::Status& why) {
  if (!GrpcCall::IsCall(*stream)) return rest_ != nullptr && rest_->OnNoRoom(stream, why);
  GrpcCall::Refuse(stream, why);
  return true;
}

absl::Status MethodTable::CheckAccess(absl::string_view path, const http2::Stream& stream) const {
  const std::optional<ApiGroup> group = GroupOfMethod(path);
  if (!group.has_value()) return absl::OkStatus();  // the caller refuses it
  const std::optional<AccessRefusal> refusal = environment_->access.Check(
      *group, [&](absl::string_view name) { return stream.FindHeader(name); });
  if (!refusal.has_value()) return absl::OkStatus();
  switch (refusal->reason) {
    case AccessRefusal::Reason::kRestricted:
      return absl::UnavailableError(refusal->message);
    case AccessRefusal::Reason::kNoKey:
      return absl::UnauthenticatedError(refusal->message);
    case AccessRefusal::Reason::kNotOpened:
    case AccessRefusal::Reason::kOff:  // of a group that has no method of gRPC
      break;
  }
  return absl::PermissionDeniedError(refusal->message);
}

std::shared_ptr<http2::StreamUser> MethodTable::PassOn(
    const std::shared_ptr<http2::Stream>& stream,
    const std::shared_ptr<http2::Connection>& connection) {
  // Counts as a call while the server stops. When nobody waits for calls any more there is no pass,
  // and the request is served as long as its connection lives.
  stream->KeepUntilClosed(std::make_shared<Gate::Pass>(environment_->calls.Join()));
  return rest_->OnRequest(stream, connection);
}

}  // namespace nereid
