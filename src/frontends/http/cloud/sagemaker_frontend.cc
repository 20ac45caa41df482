// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cloud/sagemaker_frontend.h"
#include "frontends/http/answer_form.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontends/http/cloud/binary_mime.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/router.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr char kTargetHeader[] = "X-Amzn-SageMaker-Target-Model";
constexpr char kNoDefaultModel[] =
    "there is no default model: set SAGEMAKER_TRITON_DEFAULT_MODEL_NAME";
constexpr size_t kMostTargetBytes = 1024;
constexpr uint64_t kMostLoadBytes = 64 << 10;
constexpr int kOutOfStorage = 507;

HttpResponse OnlyMethods(const char* methods) {
  HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", methods);
  return response;
}

HttpResponse UnknownPath() {
  HttpResponse response;
  response.status = 400;
  return response;
}

// The platform unloads models of a multi-model endpoint when it reads 507.
void UseSagemakerForm(HttpResponse* response) {
  UseMime(kSagemakerMime, response);
  if (response->status >= 400 && TellsWantOfMemory(response->text)) {
    response->status = kOutOfStorage;
  }
}

// By which name the server shall have a model: that of its archive, which people know, or, if that
// cannot be a model's name, the platform's own.
std::string TargetOf(const HttpRequest& request, const SagemakerLoad& load) {
  const absl::string_view archive = request.FindHeader(kTargetHeader).value_or("");
  const bool usable = !archive.empty() && archive.size() <= kMostTargetBytes &&
                      !absl::StrContains(archive, '/') && !absl::StrContains(archive, "..");
  return usable ? std::string(archive) : load.name;
}

std::string LoadBodyError(std::optional<uint64_t>, uint64_t limit) {
  return absl::StrCat("the request to load a model is too long: it may have ", limit, " bytes");
}

std::shared_ptr<ControlClient> ClientOf(HttpResponder* responder) {
  auto client = std::make_shared<ControlClient>();
  responder->SetOnCancel([client] { client->Leave(); });
  return client;
}

bool IsGet(HttpMethod method) { return method == HttpMethod::kGet || method == HttpMethod::kHead; }

}  // namespace

SagemakerFrontend::SagemakerFrontend(Server* server, HttpFrontend* rest, ThreadPool* admin,
                                     const SagemakerOptions& options)
    : rest_(rest),
      admin_(admin),
      options_(options),
      ping_path_(options.ping_live ? "/v2/health/live" : "/v2/health/ready"),
      default_path_(options.default_model.empty()
                        ? ""
                        : PathOfModel(options.default_model, options.inference)),
      models_(std::make_shared<SagemakerModels>(server)) {}

HeadVerdict SagemakerFrontend::OnHead(HttpRequest* request) {
  if (rest_->RefuseOrigin(*request).has_value()) return {/*takes_body=*/false, {}};
  absl::string_view path = request->path();
  const HttpMethod method = request->method();
  if (path == "/ping") return rest_->CheckHead(*request, method, ping_path_);
  if (path == "/invocations" && !default_path_.empty()) {
    return rest_->CheckHead(*request, method, default_path_);
  }
  if (method != HttpMethod::kPost || !absl::ConsumePrefix(&path, "/models")) {
    return {/*takes_body=*/false, {}};  // or answered without a body
  }
  if (path.empty() || path == "/") {
    const bool admitted = !rest_->Refuse(ApiGroup::kModelRepository, *request).has_value();
    return {admitted, {kMostLoadBytes, 400, &LoadBodyError}};
  }
  if (!absl::EndsWith(path, "/invoke")) return {/*takes_body=*/false, {}};
  // Which model it is does not matter for what is checked here.
  return rest_->CheckHead(*request, method, PathOfModel("m", options_.inference));
}

void SagemakerFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  if (auto refusal = rest_->RefuseOrigin(*request)) return responder.Complete(*std::move(refusal));
  absl::string_view path = request->path();
  if (path == "/ping") {
    return Invoke(ping_path_, std::move(request), InForm(&KeepStatusOnly, std::move(responder)));
  }
  if (path == "/invocations") {
    if (default_path_.empty()) return responder.Complete(MakeErrorResponse(400, kNoDefaultModel));
    return Invoke(default_path_, std::move(request), std::move(responder));
  }
  if (absl::ConsumePrefix(&path, "/models") && (path.empty() || path.front() == '/')) {
    absl::ConsumePrefix(&path, "/");
    return HandleModels(path, std::move(request), std::move(responder));
  }
  responder.Complete(UnknownPath());
}

void SagemakerFrontend::Invoke(const std::string& path, std::unique_ptr<HttpRequest> request,
                               HttpResponder responder) {
  const HttpMethod method = request->method();
  auto sent_on = SendOn(std::move(request), {method, path}, kSagemakerMime);
  if (!sent_on.ok()) return responder.Complete(StatusResponse(sent_on.status()));
  rest_->Handle(*std::move(sent_on), InForm(&UseSagemakerForm, std::move(responder)));
}

void SagemakerFrontend::HandleModels(absl::string_view rest_of_path,
                                     std::unique_ptr<HttpRequest> request,
                                     HttpResponder responder) {
  const HttpMethod method = request->method();
  const bool invoke = absl::ConsumeSuffix(&rest_of_path, "/invoke");
  const bool all = rest_of_path.empty();
  if (absl::StrContains(rest_of_path, '/') || (invoke && all)) {
    return responder.Complete(UnknownPath());
  }
  const std::string name = PercentDecode(rest_of_path);
  if (invoke) {
    if (method != HttpMethod::kPost) return responder.Complete(OnlyMethods("POST"));
    return InvokeModel(name, std::move(request), std::move(responder));
  }
  const HttpMethod change = all ? HttpMethod::kPost : HttpMethod::kDelete;
  if (!IsGet(method) && method != change) {
    return responder.Complete(OnlyMethods(all ? "GET, HEAD, POST" : "GET, HEAD, DELETE"));
  }
  if (auto refusal = rest_->Refuse(ApiGroup::kModelRepository, *request)) {
    return responder.Complete(*std::move(refusal));
  }
  if (all && !IsGet(method)) return LoadModel(std::move(request), std::move(responder));
  const std::shared_ptr<ControlClient> client = ClientOf(&responder);
  AnswerOffLoop(admin_, std::move(responder),
                [models = models_, all, method, name, client](HttpResponder later) {
                  if (all) return later.Complete(models->List());
                  if (IsGet(method)) return later.Complete(models->Get(name));
                  models->Unload(name, client, std::move(later));
                });
}

void SagemakerFrontend::InvokeModel(const std::string& name, std::unique_ptr<HttpRequest> request,
                                    HttpResponder responder) {
  // Before the look-up: who may not use the model need not learn whether it is there.
  if (auto refusal = rest_->Refuse(ApiGroup::kInference, *request)) {
    return responder.Complete(*std::move(refusal));
  }
  const std::optional<std::string> target = models_->FindTarget(name);
  if (!target.has_value()) {
    HttpResponse missing;
    missing.status = 404;
    return responder.Complete(std::move(missing));
  }
  Invoke(PathOfModel(*target, options_.inference), std::move(request), std::move(responder));
}

void SagemakerFrontend::LoadModel(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  const std::shared_ptr<ControlClient> client = ClientOf(&responder);
  AnswerOffLoop(admin_, std::move(responder),
                [models = models_, client, request = std::move(request)](HttpResponder later) {
                  // A body of this length costs little (parse_cost.h).
                  const auto load =
                      ReadSagemakerLoad(request->body_text(), ParseBudget::UpTo(kMostLoadBytes));
                  if (!load.ok()) return later.Complete(StatusResponse(load.status()));
                  models->Load(*load, TargetOf(*request, *load), client, std::move(later));
                });
}

}  // namespace nereid
