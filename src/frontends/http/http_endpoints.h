// SPDX-License-Identifier: Apache-2.0
// HttpEndpoints: the objects that the handlers of routes use. Created once for an HttpFrontend,
// which owns it. Each member documents its own thread rule.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_ENDPOINTS_H_
#define NEREID_FRONTENDS_HTTP_HTTP_ENDPOINTS_H_

#include <memory>
#include <string>

#include "base/threads/thread_pool.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/http/generate_endpoint.h"
#include "frontends/http/health_response.h"
#include "frontends/http/infer_endpoint.h"
#include "frontends/http/openai_endpoint.h"
#include "frontends/http/openapi.h"
#include "frontends/http/tfs/tfs_endpoint.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/tracing/tracing.h"
#include "server/server.h"

namespace nereid {

struct HttpEndpoints {
  Server* const server;
  ThreadPool* const admin;  // runs administration
  SharedMemoryRegistry* const shared_memory;
  Tracing* const tracing;
  const HealthBody health_body;
  const std::string server_metadata;  // as JSON; does not change while the server runs
  const std::unique_ptr<OpenApiText> openapi;
  InferEndpoint infer;
  GenerateEndpoint generate;
  TfsEndpoint tfs;
  OpenAiEndpoint openai;

  // What pays for reading the body of a request for administration.
  ParseBudget BudgetOf(const HttpRequest& request) const {
    const ReceivedBody* const body = request.body().get();
    return ParseBudget(server->in_flight_bytes(), body == nullptr ? nullptr : body->holder());
  }
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_ENDPOINTS_H_
