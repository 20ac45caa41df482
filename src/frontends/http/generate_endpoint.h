// GenerateEndpoint: POST /v2/models/M[/versions/V]/generate and generate_stream, from the received
// body to the server and back. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_GENERATE_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_GENERATE_ENDPOINT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "frontends/http/http_frontend_options.h"
#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

class GenerateInference;

class GenerateEndpoint {
 public:
  // `server` must outlive the endpoint, and the endpoint must outlive every request, so it is
  // destroyed after the server has stopped.
  GenerateEndpoint(Server* server, const HttpFrontendOptions& options);

  // Answers at once if the request cannot be issued, otherwise as its responses arrive: all of them
  // as events if `streamed`, else the single response. Runs on an I/O thread; never blocks.
  void Handle(const PathNames& names, const HttpRequest& request, bool streamed,
              HttpResponder responder);

 private:
  absl::StatusOr<std::shared_ptr<GenerateInference>> Read(const PathNames& names,
                                                          const HttpRequest& request,
                                                          uint64_t other_requests) const;

  Server* const server_;
  Tracing* const tracing_;
  const RequestLimits limits_;
  const uint64_t max_waiting_bytes_;
  const HeaderForwarding header_forwarding_;
  const HeapOutputAllocator allocator_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_GENERATE_ENDPOINT_H_
