#include "frontends/http/repository_endpoints.h"

#include <memory>
#include <utility>

#include "frontends/codec/repository_request.h"
#include "frontends/http/status_map.h"

namespace nereid {

HttpResponse RepositoryIndexResponse(const Server& server, absl::string_view body) {
  const auto ready_only = ReadIndexRequest(body);
  if (!ready_only.ok()) return StatusResponse(ready_only.status());
  const auto index = server.RepositoryIndex(*ready_only);
  return index.ok() ? JsonResponse(ToJson(*index)) : StatusResponse(index.status());
}

void ControlModel(Server* server, const Route& route, absl::string_view body,
                  HttpResponder responder) {
  if (!route.repository.empty()) {
    return responder.Complete(StatusResponse(
        absl::UnimplementedError("'repository_name' specification is not supported")));
  }
  // Shared only because functions have to be copyable.
  const auto answer = std::make_shared<HttpResponder>(std::move(responder));
  const auto done = [answer](const absl::Status& status) {
    answer->Complete(status.ok() ? HttpResponse() : StatusResponse(status));
  };
  if (route.endpoint == Endpoint::kModelUnload) {
    const absl::StatusOr<bool> with_members = ReadUnloadRequest(body);
    if (!with_members.ok()) return done(with_members.status());
    return server->UnloadModelAsync(route.model, *with_members, done);
  }
  absl::StatusOr<std::vector<LoadParameter>> parameters = ReadLoadRequest(body);
  if (!parameters.ok()) return done(parameters.status());
  server->LoadModelAsync(route.model, *std::move(parameters), done);
}

}  // namespace nereid
