#include "frontends/http/repository_endpoints.h"

#include "frontends/codec/repository_request.h"
#include "frontends/http/status_map.h"

namespace nereid {

HttpResponse RepositoryIndexResponse(const Server& server, absl::string_view body) {
  const auto ready_only = ReadIndexRequest(body);
  if (!ready_only.ok()) return StatusResponse(ready_only.status());
  const auto index = server.RepositoryIndex(*ready_only);
  return index.ok() ? JsonResponse(ToJson(*index)) : StatusResponse(index.status());
}

}  // namespace nereid
