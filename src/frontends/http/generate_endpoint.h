// SPDX-License-Identifier: Apache-2.0
// GenerateEndpoint: POST /v2/models/M[/versions/V]/generate and generate_stream, from the received
// body to the server and back. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_GENERATE_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_GENERATE_ENDPOINT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "base/threads/thread_pool.h"
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
  // destroyed after the server has stopped and `compression` has ended. On `compression` large
  // bodies are read and large answers written.
  GenerateEndpoint(Server* server, ThreadPool* compression, const HttpFrontendOptions& options);

  // Answers at once if the request cannot be issued, otherwise as its responses arrive: all of them
  // as events if `streamed`, else the single response. Runs on an I/O thread; never blocks.
  void Handle(const PathNames& names, std::unique_ptr<HttpRequest> request, bool streamed,
              HttpResponder responder);

 private:
  // The inference without its inputs.
  absl::StatusOr<std::shared_ptr<GenerateInference>> Begin(const PathNames& names,
                                                           const HttpRequest& request,
                                                           uint64_t other_requests) const;
  // Reads a large body, and issues the request, on another thread; refuses it if too much is
  // waiting there.
  void ReadElsewhere(std::unique_ptr<HttpRequest> request,
                     std::shared_ptr<GenerateInference> inference);
  absl::Status Read(const HttpRequest& request, GenerateInference* inference) const;
  void IssueOrRefuse(const absl::Status& read, std::shared_ptr<GenerateInference> inference,
                     InlineTurn* turn);

  Server* const server_;
  ThreadPool* const compression_;
  Tracing* const tracing_;
  const RequestLimits limits_;
  const NonFinite non_finite_;
  const uint64_t max_waiting_bytes_;
  const HeaderForwarding header_forwarding_;
  const HeapOutputAllocator allocator_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_GENERATE_ENDPOINT_H_
