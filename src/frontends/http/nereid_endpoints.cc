// Routes about what the server remembers of its work (docs/operate/recording.md).
#include <limits>
#include <string>
#include <utility>

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

constexpr HttpRoute kNereidRoutes[] = {
    {"/v2/nereid/models",
     RouteMethods::kGet,
     ApiGroup::kNereid,
     &RespondLater<ModelsResponse>,
     {"All models with state, reason and queue", "ModelOverview"}},
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
