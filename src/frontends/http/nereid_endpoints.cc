// SPDX-License-Identifier: Apache-2.0
// Routes about what the server remembers of its work (docs/operate/recording.md).
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/log_tail.h"
#include "frontends/http/model_version.h"
#include "frontends/http/query.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr char kSince[] = "since";
constexpr char kLimit[] = "limit";
constexpr char kOfModel[] = "model";

constexpr char kWindowQuery[] =
    R"([{"name":"since","in":"query","schema":{"type":"integer","minimum":0},)"
    R"("description":"Only what ended after this time of the server's steady clock, in nanoseconds"},)"
    R"({"name":"limit","in":"query","schema":{"type":"integer","minimum":0,"maximum":10000,"default":1000},)"
    R"("description":"At most so many requests and executions: the newest"}])";
constexpr char kTraceQuery[] =
    R"([{"name":"model","in":"query","schema":{"type":"string"},"description":"Only this model"},)"
    R"({"name":"since","in":"query","schema":{"type":"integer","minimum":0},)"
    R"("description":"Only what ended after this time of the server's steady clock, in nanoseconds"},)"
    R"({"name":"limit","in":"query","schema":{"type":"integer","minimum":0,"maximum":10000,"default":1000},)"
    R"("description":"At most so many requests and executions: the newest"}])";

constexpr char kLiveQuery[] =
    R"([{"name":"model","in":"query","schema":{"type":"string"},"description":"Only this model"}])";
constexpr uint64_t kUsualLogLines = 100;
constexpr char kLogQuery[] =
    R"([{"name":"since","in":"query","schema":{"type":"integer","minimum":0},)"
    R"("description":"The lines after this number, oldest first; without it the newest lines"},)"
    R"({"name":"limit","in":"query","schema":{"type":"integer","minimum":0,"maximum":1000,"default":100},)"
    R"("description":"At most so many lines"}])";
static_assert(LogTail::kMostLines == 1000 && kUsualLogLines == 100, "as the document says");

HttpResponse JsonOrError(absl::StatusOr<std::string> json) {
  return json.ok() ? JsonResponse(*std::move(json)) : StatusResponse(json.status());
}

absl::StatusOr<RecordWindow> WindowOf(absl::string_view query) {
  const absl::StatusOr<uint64_t> since =
      NumberParameter(query, kSince, 0, std::numeric_limits<uint64_t>::max());
  if (!since.ok()) return since.status();
  const absl::StatusOr<uint64_t> limit =
      NumberParameter(query, kLimit, RecordWindow::kUsual, RecordWindow::kMost);
  if (!limit.ok()) return limit.status();
  return RecordWindow{*since, static_cast<size_t>(*limit)};
}

HttpResponse ModelsResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  return JsonOrError(endpoints.server->ModelsJson());
}

HttpResponse TimelineResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::string_view query = call.request->query();
  if (const absl::Status known = CheckParameters(query, {kSince, kLimit}); !known.ok()) {
    return StatusResponse(known);
  }
  const absl::StatusOr<RecordWindow> window = WindowOf(query);
  if (!window.ok()) return StatusResponse(window.status());
  const auto version = VersionOf(call.names);
  if (!version.ok()) return StatusResponse(version.status());
  return JsonOrError(
      endpoints.server->RecordedTimeline(call.names.model.Decoded(), *version, *window));
}

HttpResponse RequestsResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  return JsonOrError(endpoints.server->RecordedRequests(call.names.request.Decoded()));
}

HttpResponse TraceResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::string_view query = call.request->query();
  if (const absl::Status known = CheckParameters(query, {kOfModel, kSince, kLimit}); !known.ok()) {
    return StatusResponse(known);
  }
  const absl::StatusOr<RecordWindow> window = WindowOf(query);
  if (!window.ok()) return StatusResponse(window.status());
  return JsonOrError(
      endpoints.server->RecordedTrace(TextParameter(query, kOfModel), kLatestVersion, *window));
}

HttpResponse LiveResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const absl::string_view query = call.request->query();
  if (const absl::Status known = CheckParameters(query, {kOfModel}); !known.ok()) {
    return StatusResponse(known);
  }
  return JsonOrError(endpoints.server->LiveJson(TextParameter(query, kOfModel)));
}

HttpResponse LogResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  constexpr uint64_t kAbsent = std::numeric_limits<uint64_t>::max();
  const absl::string_view query = call.request->query();
  if (const absl::Status known = CheckParameters(query, {kSince, kLimit}); !known.ok()) {
    return StatusResponse(known);
  }
  const absl::StatusOr<uint64_t> since = NumberParameter(query, kSince, kAbsent, kAbsent - 1);
  if (!since.ok()) return StatusResponse(since.status());
  const absl::StatusOr<uint64_t> limit =
      NumberParameter(query, kLimit, kUsualLogLines, LogTail::kMostLines);
  if (!limit.ok()) return StatusResponse(limit.status());
  const std::optional<uint64_t> after =
      *since == kAbsent ? std::nullopt : std::optional<uint64_t>(*since);
  return JsonOrError(endpoints.server->LogJson(after, static_cast<size_t>(*limit)));
}

constexpr HttpRoute kNereidRoutes[] = {
    {"/v2/nereid/models",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<ModelsResponse>,
     {"All models with state, reason and queue", "ModelOverview"}},
    {"/v2/nereid/live",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<LiveResponse>,
     {"What the server and its models do at present", "Activity", nullptr, BodyForm::kJson, false,
      false, kLiveQuery}},
    {"/v2/nereid/log",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<LogResponse>,
     {"The last lines of the server's log", "LogLines", nullptr, BodyForm::kJson, false, false,
      kLogQuery}},
    {"/v2/nereid/models/{model}[/versions/{version}]/timeline",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<TimelineResponse>,
     {"The last requests and executions of the model", "Timeline", nullptr, BodyForm::kJson, false,
      false, kWindowQuery}},
    {"/v2/nereid/requests/{request}",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<RequestsResponse>,
     {"What is remembered of the requests with this id", "RecordedRequests"}},
    {"/v2/nereid/trace",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<TraceResponse>,
     {"The last requests and executions as a trace file", "TraceEvents", nullptr, BodyForm::kJson,
      false, false, kTraceQuery}},
};

}  // namespace

absl::Span<const HttpRoute> NereidRoutes() { return kNereidRoutes; }

}  // namespace nereid
