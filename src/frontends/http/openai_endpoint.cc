// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/openai_endpoint.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <set>
#include <utility>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/http/http_endpoints.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"
#include "frontends/openai/openai_error.h"

namespace nereid {
namespace {

absl::Status CheckPlain(const HttpRequest& request) {
  const absl::string_view coding = request.FindHeader("Content-Encoding").value_or("");
  if (coding.empty() || absl::EqualsIgnoreCase(coding, "identity")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the header 'Content-Encoding' should be 'identity': this route takes no compressed body");
}

void WriteModel(absl::string_view name, int64_t created, JsonWriter* w) {
  w->BeginObject();
  w->Add("id", name);
  w->Add("object", "model");
  w->Add("created", created);
  w->Add("owned_by", "nereid");
  w->EndObject();
}

}  // namespace

OpenAiEndpoint::OpenAiEndpoint(Server* server, ThreadPool* compression,
                               const HttpFrontendOptions& options)
    : around_{server,
              compression,
              options.tracing,
              options.limits,
              options.max_waiting_bytes,
              options.header_forwarding,
              HeapOutputAllocator(server->in_flight_bytes())},
      created_(static_cast<int64_t>(server->clock()->WallMillis() / 1000)) {}

void OpenAiEndpoint::Handle(OpenAiRoute route, std::unique_ptr<HttpRequest> request,
                            HttpResponder responder) {
  auto inference = std::make_shared<OpenAiInference>(route, &around_);
  const uint64_t others = responder.other_requests();
  inference->set_load_metrics(LoadMetricsFormatOf(*request));
  inference->Attach(std::move(responder));
  if (const absl::Status plain = CheckPlain(*request); !plain.ok()) return inference->Refuse(plain);
  auto slot = around_.server->in_flight_requests()->TakeFairly(1, others, ShareUse::kAdmission);
  if (!slot.ok()) return inference->Refuse(slot.status());
  inference->set_slot(*std::move(slot));
  const TimePoint until = around_.server->clock()->Now() + around_.server->load_wait();
  if (request->body_text().size() > kMostInlineJsonBytes) {
    return ReadElsewhere(std::move(request), std::move(inference), until);
  }
  const absl::Status read = inference->Read(*request);
  Issue(read, std::move(request), std::move(inference), until);
}

void OpenAiEndpoint::ReadElsewhere(std::shared_ptr<const HttpRequest> request,
                                   std::shared_ptr<OpenAiInference> inference,
                                   TimePoint until) const {
  const bool taken = around_.compression->TryRun([this, request, inference, until] {
    absl::Status read = inference->Read(*request);
    if (read.ok() && inference->cancelled()) {
      read = absl::CancelledError("the request was cancelled");
    }
    Issue(read, request, inference, until);
  });
  if (!taken) inference->Refuse(TooManyLargeBodies());
}

void OpenAiEndpoint::Issue(const absl::Status& read, std::shared_ptr<const HttpRequest> request,
                           std::shared_ptr<OpenAiInference> inference, TimePoint until) const {
  const bool waits = !read.ok() && !inference->cancelled() &&
                     around_.server->AwaitModel(read, until, [this, request, inference, until] {
                       ReadElsewhere(request, inference, until);
                     });
  if (waits) return;
  request.reset();  // the inference holds the body
  if (!read.ok()) return inference->Refuse(read);
  OpenAiInference::Issue(std::move(inference));
}

absl::StatusOr<std::string> OpenAiEndpoint::ListModels() const {
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> index, around_.server->RepositoryIndex(true));
  std::set<absl::string_view> names;  // a model may have several versions
  for (const IndexEntry& entry : index) names.insert(entry.name);
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Add("object", "list");
  w.BeginArray("data");
  for (const absl::string_view name : names) {
    const auto model = around_.server->FindLoadedModel(name);
    if (!model.ok()) continue;  // it has gone meanwhile, or is loaded on demand
    const auto offered = OpenAiModel::Of((*model)->config());
    if (offered.ok() && offered->offered()) WriteModel(name, created_, &w);
  }
  w.EndArray();
  w.EndObject();
  return json;
}

absl::StatusOr<std::string> OpenAiEndpoint::DescribeModel(absl::string_view name) const {
  const auto model = around_.server->FindModel(name, kLatestVersion);
  if (!model.ok()) {
    return absl::IsNotFound(model.status()) ? WithOpenAiCode(model.status(), "model_not_found")
                                            : model.status();
  }
  ASSIGN_OR_RETURN(const OpenAiModel offered, OpenAiModel::Of((*model)->config()));
  if (!offered.offered()) {
    return WithOpenAiCode(
        absl::NotFoundError(absl::StrCat(
            "model '", name, "' is served, but not by /v1: it has neither texts nor embeddings")),
        "model_not_found");
  }
  std::string json;
  JsonWriter w(&json);
  WriteModel(name, created_, &w);
  return json;
}

namespace {

void ToOpenAiForm(HttpResponse* response) {
  if (response->status < 400 || response->body_stream != nullptr) return;
  ToOpenAiErrorForm(response->status, &response->text);
}

}  // namespace

AnswerForm OpenAiFormOf(absl::string_view path) {
  return absl::StartsWith(path, "/v1/") ? &ToOpenAiForm : nullptr;
}

// ---- Routes

namespace {

template <OpenAiRoute route>
void AnswerOpenAi(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  endpoints->openai.Handle(route, std::move(call.request), std::move(responder));
}

HttpResponse OpenAiJson(absl::StatusOr<std::string> json) {
  if (json.ok()) return JsonResponse(*std::move(json));
  return OpenAiErrorResponse(json.status());
}

HttpResponse OpenAiModels(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return OpenAiJson(endpoints.openai.ListModels());
}

HttpResponse OpenAiModelNamed(const HttpEndpoints& endpoints, const HttpCall& call) {
  return OpenAiJson(endpoints.openai.DescribeModel(call.names.model.Decoded()));
}

constexpr RouteDoc DocOf(const char* summary, const char* response, const char* request = nullptr,
                         BodyForm form = BodyForm::kJson) {
  RouteDoc doc;
  doc.summary = summary;
  doc.response = response;
  doc.request = request;
  doc.form = form;
  doc.error = "OpenAiError";
  return doc;
}

constexpr HttpRoute kOpenAiRoutes[] = {
    {"/v1/models", RouteMethods::kGet, ApiGroup::kMetadata, &RespondLater<OpenAiModels>,
     DocOf("OpenAI: the models that /v1 serves", "OpenAiModelList")},
    {"/v1/models/{model}", RouteMethods::kGet, ApiGroup::kMetadata, &RespondLater<OpenAiModelNamed>,
     DocOf("OpenAI: one of these models", "OpenAiModel"), RouteBody::kSmall, /*awaits_model=*/true},
    {"/v1/completions", RouteMethods::kPost, ApiGroup::kInference,
     &AnswerOpenAi<OpenAiRoute::kCompletions>,
     DocOf("OpenAI: how a text goes on", "OpenAiCompletion", "OpenAiCompletionRequest",
           BodyForm::kJsonOrEvents),
     RouteBody::kInput},
    {"/v1/chat/completions", RouteMethods::kPost, ApiGroup::kInference,
     &AnswerOpenAi<OpenAiRoute::kChat>,
     DocOf("OpenAI: the next message of a chat", "OpenAiChatCompletion", "OpenAiChatRequest",
           BodyForm::kJsonOrEvents),
     RouteBody::kInput},
    {"/v1/embeddings", RouteMethods::kPost, ApiGroup::kInference,
     &AnswerOpenAi<OpenAiRoute::kEmbeddings>,
     DocOf("OpenAI: a vector for each text", "OpenAiEmbeddings", "OpenAiEmbeddingsRequest"),
     RouteBody::kInput},
};

}  // namespace

absl::Span<const HttpRoute> OpenAiRoutes() { return kOpenAiRoutes; }

}  // namespace nereid
