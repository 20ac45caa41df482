// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cloud/vertex_ai_frontend.h"
#include "frontends/http/answer_form.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/http/cloud/binary_mime.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr char kRedirectHeader[] = "X-Vertex-Ai-Triton-Redirect";
constexpr char kReadyPath[] = "/v2/health/ready";
constexpr char kMetricsPath[] = "/metrics";

enum class RedirectTo : uint8_t {
  kRest,
  kMetrics,
  kNowhere,  // known, but never open to clients of the platform: it changes the server
};

struct RedirectRow {
  absl::string_view pattern;
  HttpMethod method;  // the client's is always POST
  RedirectTo to = RedirectTo::kRest;
};

constexpr RedirectRow kRedirects[] = {
    {"/v2/models/{model}[/versions/{version}]/infer", HttpMethod::kPost},
    {"/v2/models/{model}[/versions/{version}]/ready", HttpMethod::kGet},
    {"/v2/models/{model}[/versions/{version}]/config", HttpMethod::kGet},
    {"/v2/models/{model}[/versions/{version}]/stats", HttpMethod::kGet},
    {"/v2/models/{model}[/versions/{version}]", HttpMethod::kGet},
    {"/v2/models/stats", HttpMethod::kGet},
    {"/v2/health/live", HttpMethod::kGet},
    {kReadyPath, HttpMethod::kGet},
    {"/v2", HttpMethod::kGet},
    {"/v2/systemsharedmemory[/region/{region}]/status", HttpMethod::kGet},
    {"/v2/cudasharedmemory[/region/{region}]/status", HttpMethod::kGet},
    {"/v2/repository[/{repository}]/index", HttpMethod::kPost},
    {kMetricsPath, HttpMethod::kGet, RedirectTo::kMetrics},
    {"/v2/systemsharedmemory/region/{region}/register", HttpMethod::kPost, RedirectTo::kNowhere},
    {"/v2/cudasharedmemory/region/{region}/register", HttpMethod::kPost, RedirectTo::kNowhere},
    {"/v2/systemsharedmemory[/region/{region}]/unregister", HttpMethod::kPost,
     RedirectTo::kNowhere},
    {"/v2/cudasharedmemory[/region/{region}]/unregister", HttpMethod::kPost, RedirectTo::kNowhere},
    {"/v2/repository[/{repository}]/models/{model}/load", HttpMethod::kPost, RedirectTo::kNowhere},
    {"/v2/repository[/{repository}]/models/{model}/unload", HttpMethod::kPost,
     RedirectTo::kNowhere},
};

Router MakeRedirectRouter() {
  std::vector<absl::string_view> patterns;
  for (const RedirectRow& row : kRedirects) patterns.push_back(row.pattern);
  return Router(patterns);
}

HttpResponse EmptyResponse(int status) {
  HttpResponse response;
  response.status = status;
  return response;
}

HttpResponse PostOnly() {
  HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", "POST");
  return response;
}

}  // namespace

VertexAiFrontend::VertexAiFrontend(HttpFrontend* rest, HttpHandler* metrics, VertexAiRoutes routes,
                                   absl::string_view default_model)
    : rest_(rest),
      metrics_(metrics),
      routes_(std::move(routes)),
      default_path_(PathOfModel(default_model, "infer")),
      redirects_(MakeRedirectRouter()) {}

HeadVerdict VertexAiFrontend::OnHead(HttpRequest* request) {
  if (request->path() == routes_.health) {
    return rest_->CheckHead(*request, request->method(), kReadyPath);
  }
  if (request->path() != routes_.predict) return {/*takes_body=*/false, {}};
  const std::optional<absl::string_view> redirect = request->FindHeader(kRedirectHeader);
  if (!redirect.has_value()) return rest_->CheckHead(*request, request->method(), default_path_);
  const std::string path = absl::StrCat("/", *redirect);
  const std::optional<RouteMatch> match = redirects_.Match(path);
  if (request->method() != HttpMethod::kPost || !match.has_value())
    return {/*takes_body=*/false, {}};
  const RedirectRow& row = kRedirects[match->pattern];
  // Nowhere and the metrics page take no body.
  if (row.to != RedirectTo::kRest) return {/*takes_body=*/false, {}};
  return rest_->CheckHead(*request, row.method, path);
}

void VertexAiFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  if (auto refusal = rest_->RefuseOrigin(*request)) return responder.Complete(*std::move(refusal));
  if (request->path() == routes_.health) {
    const HttpMethod method = request->method();
    return SendToRest(method, kReadyPath, std::move(request),
                      InForm(&KeepStatusOnly, std::move(responder)));
  }
  if (request->path() == routes_.predict) {
    return Predict(std::move(request), std::move(responder));
  }
  responder.Complete(EmptyResponse(400));
}

void VertexAiFrontend::Predict(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  const std::optional<absl::string_view> redirect = request->FindHeader(kRedirectHeader);
  if (redirect.has_value()) {
    const std::string path = absl::StrCat("/", *redirect);
    return Redirect(path, std::move(request), std::move(responder));
  }
  const HttpMethod method = request->method();
  SendToRest(method, default_path_, std::move(request), std::move(responder));
}

void VertexAiFrontend::Redirect(const std::string& path, std::unique_ptr<HttpRequest> request,
                                HttpResponder responder) {
  if (request->method() != HttpMethod::kPost) return responder.Complete(PostOnly());
  const std::optional<RouteMatch> match = redirects_.Match(path);
  // What follows these characters would be no part of the path any more.
  const bool has_query = path.find_first_of("?#") != std::string::npos;
  if (!match.has_value() || has_query) return responder.Complete(EmptyResponse(400));
  const RedirectRow& row = kRedirects[match->pattern];
  switch (row.to) {
    case RedirectTo::kRest:
      return SendToRest(row.method, path, std::move(request), std::move(responder));
    case RedirectTo::kMetrics:
      break;
    case RedirectTo::kNowhere:
      return responder.Complete(MakeErrorResponse(
          403, absl::StrCat("'", path, "' is not available on the port of Vertex AI")));
  }
  // The metrics port belongs to no group, but it does not face the platform's clients. What they
  // see here are the statistics of models and more.
  if (auto refusal = rest_->Refuse(ApiGroup::kStatistics, *request)) {
    return responder.Complete(*std::move(refusal));
  }
  auto sent_on = SendOn(std::move(request), {row.method, path}, kVertexAiMime);
  if (!sent_on.ok()) return responder.Complete(StatusResponse(sent_on.status()));
  metrics_->Handle(*std::move(sent_on), std::move(responder));
}

void VertexAiFrontend::SendToRest(HttpMethod method, absl::string_view path,
                                  std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  auto sent_on = SendOn(std::move(request), {method, path}, kVertexAiMime);
  if (!sent_on.ok()) return responder.Complete(StatusResponse(sent_on.status()));
  rest_->Handle(*std::move(sent_on), std::move(responder));
}

absl::StatusOr<std::string> FindDefaultModel(const Server& server, const std::string& asked) {
  ASSIGN_OR_RETURN(const std::vector<IndexEntry> index, server.RepositoryIndex(true));
  std::set<std::string> ready;
  for (const IndexEntry& entry : index) ready.insert(entry.name);
  if (!asked.empty()) {
    if (ready.count(asked) > 0) return asked;
    return absl::InvalidArgumentError(
        absl::StrCat("Expect the default model '", asked, "' is loaded"));
  }
  if (ready.size() == 1) return *ready.begin();
  return absl::InvalidArgumentError(
      "Expect the model repository contains only a single model if default model is not specified");
}

}  // namespace nereid
