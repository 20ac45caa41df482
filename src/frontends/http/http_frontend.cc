// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/http_frontend.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/retry_after.h"
#include "frontends/http/answer_form.h"
#include "frontends/http/openai_endpoint.h"
#include "frontends/http/status_map.h"
#include "infer/request_cost.h"
#include "observe/access/access_log.h"

namespace nereid {
namespace {

HttpResponse MethodNotAllowed(const HttpRoute& route) {
  HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", AllowedMethods(route.methods));
  return response;
}

// " of 5 bytes", or nothing if the size is not known.
std::string SizeText(std::optional<uint64_t> size) {
  return size.has_value() ? absl::StrCat(" of ", *size, " bytes") : "";
}

std::string SmallBodyError(std::optional<uint64_t> size, uint64_t limit) {
  return absl::StrCat("request body", SizeText(size), " exceeds the maximum of ", limit,
                      " bytes of this route. Use --max-admin-body-bytes to increase the limit.");
}

std::string InputBodyError(std::optional<uint64_t> size, uint64_t limit) {
  return absl::StrCat("request JSON size", SizeText(size),
                      " exceeds the maximum allowed input size of ", limit,
                      " bytes. Use --http-max-input-size to increase the limit.");
}

bool OnlyReads(HttpMethod method) {
  return method == HttpMethod::kGet || method == HttpMethod::kHead;
}

// Where to find what is asked for at a wrong place; null: nobody knows.
const char* Pointer(const Router& router, absl::string_view path) {
  const bool has_slash = path.size() > 1 && absl::ConsumeSuffix(&path, "/");
  if (path == "/metrics") return ": metrics are on the metrics port (--metrics-port)";
  if (path == "/v2/models") return ": POST /v2/repository/index lists the models";
  if (has_slash && router.Match(path).has_value()) {
    return ": the path has a slash too many at its end";
  }
  return nullptr;
}

// What nginx writes for a client that has left.
constexpr int kClientLeft = 499;

uint64_t BodyBytes(const HttpResponse& response) {
  uint64_t bytes = response.text.size();
  for (const HttpChunk& chunk : response.chunks) bytes += chunk.size;
  return bytes;
}

// The line of one request, which is written when it goes, if not before.
class Line {
 public:
  Line(AccessLog* log, AccessEntry entry) : log_(log), entry_(std::move(entry)) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    if (entry_.has_value()) Write(kClientLeft, 0);
  }

  void Note(const LogAbout& about) {
    if (!entry_.has_value()) return;
    entry_->request_id = about.request_id.substr(0, AccessLog::kLongestText);
    // Where the body names the model, not the path.
    if (entry_->model.empty()) entry_->model = about.model;
  }
  void Write(int status, uint64_t bytes_out) {
    entry_->status = absl::StrCat(status);
    entry_->bytes_out = bytes_out;
    log_->Write(*std::exchange(entry_, std::nullopt));
  }

 private:
  AccessLog* const log_;
  std::optional<AccessEntry> entry_;  // until it is written
};

class LoggedAnswer final : public HttpAnswerObserver {
 public:
  LoggedAnswer(std::unique_ptr<Line> line, bool is_head)
      : line_(std::move(line)), is_head_(is_head) {}

  void NoteRequest(absl::FunctionRef<LogAbout()> about) override { line_->Note(about()); }
  void OnAnswer(HttpResponse* response) override {
    if (response->body_stream == nullptr) {
      return line_->Write(response->status, is_head_ ? 0 : BodyBytes(*response));
    }
    response->body_stream->SetAtEnd(
        [line = std::move(line_), status = response->status](uint64_t bytes, bool complete) {
          line->Write(complete ? status : kClientLeft, bytes);
        });
  }

 private:
  std::unique_ptr<Line> line_;
  const bool is_head_;
};

// Writes a line to `log` once the answer is there: for an answer that is produced piece by piece,
// at its end; for a client that left before, with status 499. `origin`: where `request` comes from.
// `model`: that of the request, or empty. `log` outlives the request.
std::unique_ptr<HttpAnswerObserver> LogAnswer(AccessLog* log, const Clock& clock,
                                              const HttpRequest& request, HttpOrigin origin,
                                              std::string model) {
  AccessEntry entry;
  entry.protocol = origin.protocol;
  entry.peer = std::move(origin.peer);
  entry.method = HttpMethodName(request.method());
  entry.path = std::string(request.path().substr(0, AccessLog::kLongestText));
  entry.model = std::move(model);
  entry.bytes_in = request.body_text().size();
  entry.start = clock.Now();
  return std::make_unique<LoggedAnswer>(std::make_unique<Line>(log, std::move(entry)),
                                        request.method() == HttpMethod::kHead);
}

}  // namespace

HttpFrontend::HttpFrontend(Server* server, const HttpExecutors& executors,
                           const HttpFrontendOptions& options, HttpApi api)
    : access_log_(executors.access_log),
      access_(options.access),
      cors_(options.cors),
      max_input_size_(options.limits.max_input_size),
      max_admin_body_bytes_(options.max_admin_body_bytes),
      endpoints_{server,
                 executors.admin,
                 options.shared_memory,
                 options.tracing,
                 options.health_body,
                 ToJson(server->Metadata()),
                 std::make_unique<OpenApiText>(api.routes, server->Metadata().version, &access_),
                 InferEndpoint(server, executors.compression, options),
                 GenerateEndpoint(server, executors.compression, options),
                 TfsEndpoint(server, executors.compression, options),
                 OpenAiEndpoint(server, executors.compression, options)},
      routes_(std::move(api.routes)),
      form_of_(api.form_of),
      router_(MakeRouter(routes_)) {}

std::optional<HttpResponse> HttpFrontend::AnswerToHead(
    const HttpRequest& request, HttpMethod method, const std::optional<RouteMatch>& match) const {
  if (auto refusal = RefuseOrigin(request)) return refusal;
  if (!match.has_value()) {
    const char* const pointer = Pointer(router_, request.path());
    return MakeErrorResponse(404, absl::StrCat("Not Found", pointer == nullptr ? "" : pointer));
  }
  const HttpRoute& route = routes_[match->pattern];
  if (method == HttpMethod::kOptions) {
    return cors_.Options(request, AllowedMethods(route.methods));
  }
  if (auto refusal = Refuse(route.group, request)) return refusal;
  if (!IsMethodAllowed(route.methods, method)) return MethodNotAllowed(route);
  return std::nullopt;
}

HeadVerdict HttpFrontend::VerdictOn(const HttpRoute& route, HttpMethod method) const {
  if (OnlyReads(method)) return {/*takes_body=*/false, {}};
  const AnswerForm form = FormOf(route.pattern);
  switch (route.body) {
    case RouteBody::kSmall:
      return {true, {max_admin_body_bytes_, 413, &SmallBodyError, form}};
    case RouteBody::kInput:
      return {true, {max_input_size_, 400, &InputBodyError, form}};  // as if it had been read
    case RouteBody::kAny:
      break;
  }
  return {};
}

HeadVerdict HttpFrontend::CheckHead(const HttpRequest& request, HttpMethod method,
                                    absl::string_view path) const {
  const std::optional<RouteMatch> match = router_.Match(path);
  if (AnswerToHead(request, method, match).has_value()) return {/*takes_body=*/false, {}};
  return VerdictOn(routes_[match->pattern], method);
}

HeadVerdict HttpFrontend::OnHead(HttpRequest* request) {
  const std::optional<RouteMatch> match = router_.Match(request->path());
  if (AnswerToHead(*request, request->method(), match).has_value()) {
    return {/*takes_body=*/false, {}};
  }
  request->set_route(*match);
  return VerdictOn(routes_[match->pattern], request->method());
}

void HttpFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  cors_.Mark(*request, &responder);
  const bool admitted = request->route().has_value();
  const std::optional<RouteMatch> match =
      admitted ? request->route() : router_.Match(request->path());
  if (access_log_ != nullptr && access_log_->Takes()) {
    std::string model = match.has_value() ? match->names.model.Decoded() : "";
    responder.Add(LogAnswer(access_log_, *endpoints_.server->clock(), *request, responder.origin(),
                            std::move(model)));
  }
  if (const AnswerForm form = FormOf(request->path()); form != nullptr) {
    responder = InForm(form, std::move(responder));
  }
  if (!admitted) {
    auto answer = AnswerToHead(*request, request->method(), match);
    if (answer.has_value()) return responder.Complete(*std::move(answer));
  }
  const HttpRoute& route = routes_[match->pattern];
  HttpCall call{match->names, std::move(request)};
  const Duration longest = endpoints_.server->load_wait();
  if (!route.awaits_model || longest == Duration(0)) {
    return route.handle(&endpoints_, std::move(call), std::move(responder));
  }
  RunWithModel(route, std::move(call), std::move(responder),
               endpoints_.server->clock()->Now() + longest);
}

void HttpFrontend::RunWithModel(const HttpRoute& route, HttpCall call, HttpResponder responder,
                                TimePoint until) {
  Server* const server = endpoints_.server;
  const absl::Status found = server->FindModel(call.names.model.Decoded(), kLatestVersion).status();
  absl::StatusOr<BudgetUnits> slot = BudgetUnits();
  if (AwaitedModelOf(found).has_value()) {  // a request that waits is open
    slot = server->in_flight_requests()->TakeFairly(1, responder.other_requests(),
                                                    ShareUse::kAdmission);
  }
  if (!AwaitedModelOf(found).has_value() || !slot.ok()) {
    return route.handle(&endpoints_, std::move(call), std::move(responder));
  }
  struct Wait {
    bool in_vain = false;    // there is nothing to wait for
    bool cancelled = false;  // the client seems to have left
    std::function<void()> resume;
  };
  const auto wait = std::make_shared<Wait>();
  responder.SetOnCancel([weak = std::weak_ptr<Wait>(wait)] {
    const std::shared_ptr<Wait> cancelled = weak.lock();
    if (cancelled == nullptr) return;
    cancelled->cancelled = true;
    cancelled->resume();
  });
  std::function<void()> resume =
      responder.PutOff([this, &route, call = std::move(call), slot = *std::move(slot), wait,
                        until](HttpResponder later) mutable {
        slot.Return();
        if (wait->cancelled) {
          return later.Complete(StatusResponse(absl::CancelledError("the request was cancelled")));
        }
        if (wait->in_vain) return route.handle(&endpoints_, std::move(call), std::move(later));
        RunWithModel(route, std::move(call), std::move(later), until);
      });
  wait->resume = resume;
  if (server->AwaitModel(found, until, resume)) return;
  wait->in_vain = true;
  resume();
}

std::optional<HttpResponse> HttpFrontend::Refuse(ApiGroup group, const HttpRequest& request) const {
  const std::optional<AccessRefusal> refusal = access_.Check(
      group, [&](absl::string_view name) { return request.FindHeader(name).value_or(""); });
  if (!refusal.has_value()) return std::nullopt;
  if (refusal->reason != AccessRefusal::Reason::kNoKey) {
    return MakeErrorResponse(403, refusal->message);
  }
  HttpResponse response = MakeErrorResponse(401, refusal->message);
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpServerOptions InferencePortOptions(Server* server, HttpServerOptions options) {
  options.body_budget = server->in_flight_bytes();
  options.request_cost = kRequestCost;
  options.body_split_header = kHeaderLengthHeader;
  return options;
}

}  // namespace nereid
