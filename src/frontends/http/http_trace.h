// SPDX-License-Identifier: Apache-2.0
// What the HTTP frontend notes about requests that are traced. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_TRACE_H_
#define NEREID_FRONTENDS_HTTP_HTTP_TRACE_H_

#include "frontends/http/http_message.h"
#include "frontends/tracing/tracing.h"
#include "infer/infer_request.h"

namespace nereid {

// If `request`, which has arrived completely, is to be traced: begins its trace, which `draft`
// carries into the core. Otherwise null.
TracedRequestPtr BeginHttpTrace(Tracing* tracing, const HttpRequest& request, InferRequest* draft);

// `response` is now given to the connection, and tells the trace when it is sent. Takes `*traced`,
// which may be null.
void NoteSending(TracedRequestPtr* traced, HttpResponse* response);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_TRACE_H_
