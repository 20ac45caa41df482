// SPDX-License-Identifier: Apache-2.0
// TfsEndpoint: the routes of TensorFlow Serving's API, /v1/models/M and below, from the received
// body to the server and back. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_TFS_TFS_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_TFS_TFS_ENDPOINT_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "base/threads/thread_pool.h"
#include "config/tfs_spec.h"
#include "frontends/codec/compression.h"
#include "frontends/http/http_frontend_options.h"
#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

class TfsInference;

class TfsEndpoint {
 public:
  // `server` must outlive the endpoint, and the endpoint must outlive every request, so it is
  // destroyed after the server has stopped and `executor` has ended. On `executor` large bodies are
  // read and large answers written.
  TfsEndpoint(Server* server, ThreadPool* executor, const HttpFrontendOptions& options);

  // Answers at once if the request cannot be issued, otherwise when its response arrives. Runs on
  // an I/O thread; never blocks.
  void Handle(const PathNames& names, TfsMethod method, std::unique_ptr<HttpRequest> request,
              HttpResponder responder);

 private:
  // The inference without its inputs.
  absl::StatusOr<std::shared_ptr<TfsInference>> Begin(const PathNames& names, TfsMethod method,
                                                      const HttpRequest& request,
                                                      uint64_t other_requests) const;
  // Replaces the body of `request` by the plain one, on a thread that may take its time.
  absl::Status Decompress(ContentCoding coding, HttpRequest* request,
                          const TfsInference& inference) const;
  absl::Status Read(const HttpRequest& request, TfsInference* inference) const;
  void IssueOrRefuse(const absl::Status& read, std::shared_ptr<TfsInference> inference,
                     InlineTurn* turn);

  Server* const server_;
  ThreadPool* const executor_;
  Tracing* const tracing_;
  const RequestLimits limits_;
  const NonFinite non_finite_;
  const HeaderForwarding header_forwarding_;
  const HeapOutputAllocator allocator_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_TFS_TFS_ENDPOINT_H_
