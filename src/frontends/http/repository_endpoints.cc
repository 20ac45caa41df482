// SPDX-License-Identifier: Apache-2.0
// Routes about the model repository: its index, and loading and unloading.
#include <cstdint>
#include <utility>
#include <vector>

#include "frontends/codec/repository_request.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

// The repository name that a path may contain is ignored.
HttpResponse RepositoryIndexResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  const auto ready_only =
      ReadIndexRequest(call.request->body_text(), endpoints.BudgetOf(*call.request));
  if (!ready_only.ok()) return StatusResponse(ready_only.status());
  const auto index = endpoints.server->RepositoryIndex(*ready_only);
  return index.ok() ? JsonResponse(ToJson(*index)) : StatusResponse(index.status());
}

using Client = std::shared_ptr<ControlClient>;

// What the access log says of a client that has left, as nginx does.
constexpr int kClientLeft = 499;

void LoadModel(const HttpEndpoints& endpoints, const HttpCall& call, Client client,
               Server::ControlDone done) {
  absl::StatusOr<std::vector<LoadParameter>> parameters =
      ReadLoadRequest(call.request->body_text(), endpoints.BudgetOf(*call.request));
  if (!parameters.ok()) return done(parameters.status());
  // They outlive the body.
  uint64_t bytes = 0;
  for (const LoadParameter& parameter : *parameters) bytes += parameter.value.size();
  absl::StatusOr<BudgetUnits> units = endpoints.BudgetOf(*call.request).Take(bytes, bytes);
  if (!units.ok()) return done(units.status());
  done = [done = std::move(done), units = *std::move(units)](absl::Status status) mutable {
    units.Return();
    done(std::move(status));
  };
  endpoints.server->LoadModelAsync(call.names.model.Decoded(), *parameters, std::move(client),
                                   std::move(done));
}

void UnloadModel(const HttpEndpoints& endpoints, const HttpCall& call, Client client,
                 Server::ControlDone done) {
  const absl::StatusOr<bool> with_members =
      ReadUnloadRequest(call.request->body_text(), endpoints.BudgetOf(*call.request));
  if (!with_members.ok()) return done(with_members.status());
  endpoints.server->UnloadModelAsync(call.names.model.Decoded(), *with_members, std::move(client),
                                     std::move(done));
}

HttpResponse ControlResponse(const absl::Status& status) {
  if (status.ok()) return HttpResponse();
  HttpResponse response = StatusResponse(status);
  if (status.code() == absl::StatusCode::kCancelled) response.status = kClientLeft;
  return response;
}

// The body is read on an administration thread. `start` has the change carried out on other
// threads, one of which calls `done`.
template <void (*start)(const HttpEndpoints& endpoints, const HttpCall& call, Client client,
                        Server::ControlDone done)>
void ControlModel(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  const auto client = std::make_shared<ControlClient>();
  responder.SetOnCancel([client] { client->Leave(); });
  AnswerOffLoop(endpoints->admin, std::move(responder),
                [endpoints, client, call = std::move(call)](HttpResponder later) {
                  if (!call.names.repository.empty()) {
                    return later.Complete(StatusResponse(absl::UnimplementedError(
                        "'repository_name' specification is not supported")));
                  }
                  start(*endpoints, call, client,
                        [answer = std::move(later)](const absl::Status& status) mutable {
                          answer.Complete(ControlResponse(status));
                        });
                });
}

constexpr HttpRoute kRepositoryRoutes[] = {
    {"/v2/repository[/{repository}]/index",
     RouteMethods::kPost,
     ApiGroup::kModelRepository,
     &RespondLater<RepositoryIndexResponse>,
     {"Models of the repositories", "RepositoryIndex", "IndexRequest", BodyForm::kJson, true}},
    {"/v2/repository[/{repository}]/models/{model}/load",
     RouteMethods::kPost,
     ApiGroup::kModelRepository,
     &ControlModel<LoadModel>,
     {"Load the model, or load it again", nullptr, "LoadRequest", BodyForm::kJson, true, true},
     RouteBody::kAny},
    {"/v2/repository[/{repository}]/models/{model}/unload",
     RouteMethods::kPost,
     ApiGroup::kModelRepository,
     &ControlModel<UnloadModel>,
     {"Unload the model", nullptr, "UnloadRequest", BodyForm::kJson, true, true}},
};

}  // namespace

absl::Span<const HttpRoute> RepositoryRoutes() { return kRepositoryRoutes; }

}  // namespace nereid
