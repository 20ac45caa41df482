// Handlers of routes made of functions that return a response: a row of the table says
// RespondNow<f> or RespondLater<f>. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_RESPONSE_HANDLERS_H_
#define NEREID_FRONTENDS_HTTP_RESPONSE_HANDLERS_H_

#include <utility>

#include "frontends/http/http_endpoints.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/routes.h"

namespace nereid {

using HttpResponseMaker = HttpResponse (*)(const HttpEndpoints& endpoints, const HttpCall& call);

// On the I/O thread: for what is known without reading or computing.
template <HttpResponseMaker make>
void RespondNow(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  responder.Complete(make(*endpoints, call));
}

// On a thread of administration: for what an I/O thread has no time for.
template <HttpResponseMaker make>
void RespondLater(HttpEndpoints* endpoints, HttpCall call, HttpResponder responder) {
  RespondOffLoop(endpoints->admin, std::move(responder),
                 [endpoints, call = std::move(call)] { return make(*endpoints, call); });
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_RESPONSE_HANDLERS_H_
