// SPDX-License-Identifier: Apache-2.0
// Turns functions that return a response into handlers of routes: a row of the table says
// RespondNow<f> or RespondLater<f>. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_RESPONSE_HANDLERS_H_
#define NEREID_FRONTENDS_HTTP_RESPONSE_HANDLERS_H_

#include <utility>

#include "frontends/http/http_endpoints.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/routes.h"

namespace nereid {

using HttpResponseMaker = HttpResponse (*)(const HttpEndpoints& endpoints, const HttpCall& call);

// Runs on the I/O thread: for answers that need no I/O and no computation.
template <HttpResponseMaker make>
void RespondNow(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  responder.Complete(make(*endpoints, call));
}

// Runs on an administration thread: for answers that take too long for an I/O thread.
template <HttpResponseMaker make>
void RespondLater(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  RespondOffLoop(endpoints->admin, std::move(responder),
                 [endpoints, call = std::move(call)] { return make(*endpoints, call); });
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_RESPONSE_HANDLERS_H_
