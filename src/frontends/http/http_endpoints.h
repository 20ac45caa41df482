// HttpEndpoints: what the handlers of routes work with. Made once for an HttpFrontend, which owns
// it. Each part says itself which threads may use it.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_ENDPOINTS_H_
#define NEREID_FRONTENDS_HTTP_HTTP_ENDPOINTS_H_

#include <string>

#include "base/spare_executor.h"
#include "frontends/http/generate_endpoint.h"
#include "frontends/http/infer_endpoint.h"
#include "server/server.h"

namespace nereid {

struct HttpEndpoints {
  Server* const server;
  SpareExecutor* const admin;         // where administration runs
  const std::string server_metadata;  // as JSON; does not change while the server runs
  InferEndpoint infer;
  GenerateEndpoint generate;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_ENDPOINTS_H_
