// SPDX-License-Identifier: Apache-2.0
// RouteDoc: what a row of the route table tells the OpenAPI document about its route. A plain value
// whose texts live as long as the program.
#ifndef NEREID_FRONTENDS_HTTP_ROUTE_DOC_H_
#define NEREID_FRONTENDS_HTTP_ROUTE_DOC_H_

#include <cstdint>

namespace nereid {

enum class BodyForm : uint8_t {
  kJson,
  kTensors,       // JSON, or JSON followed by binary tensors
  kEvents,        // answers are server-sent events
  kJsonOrEvents,  // one or the other, as the request asks
  kHtml,          // answers are a page for people, or JSON for clients that ask for it
};

// Schemas are named as in openapi_schemas.h.
struct RouteDoc {
  const char* summary = nullptr;
  const char* response = nullptr;  // schema of the answer; null: its body is empty
  const char* request = nullptr;   // schema of the body of a POST; null: the body is ignored
  BodyForm form = BodyForm::kJson;
  bool body_optional = false;
  bool may_be_unsupported = false;  // 501 is possible
  // The parameters of the query as a JSON array of OpenAPI's parameters; null: there are none.
  const char* query = nullptr;
  const char* server_error = nullptr;  // when 500 is possible; null: never
  const char* error = "Error";         // schema of errors
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ROUTE_DOC_H_
