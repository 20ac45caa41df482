// InferEndpoint: POST /v2/models/M[/versions/V]/infer, from the received body to the server and
// back. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_

#include <cstdint>
#include <memory>

#include "frontends/codec/request_limits.h"
#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

// Name of the header that says how much of a body is JSON; the rest is binary tensors.
inline constexpr char kHeaderLengthHeader[] = "Inference-Header-Content-Length";

class InferEndpoint {
 public:
  // `server` must outlive this, and this every request: it goes after the server has stopped.
  InferEndpoint(Server* server, const RequestLimits& limits);

  // Answers at once when the request cannot be issued, otherwise when its response is there.
  // Runs on an I/O thread; never blocks.
  void Handle(const Route& route, const HttpRequest& request, HttpResponder responder);

 private:
  Server* const server_;
  const RequestLimits limits_;
  const HeapOutputAllocator allocator_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_
