// SPDX-License-Identifier: Apache-2.0
// InferEndpoint: POST /v2/models/M[/versions/V]/infer, from the received body to the server and
// back. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>

#include "base/threads/thread_pool.h"
#include "frontends/codec/placed_output_allocator.h"
#include "frontends/http/http_frontend_options.h"
#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "server/server.h"

namespace nereid {

// Name of the header that gives the number of JSON bytes in a body; the rest is binary tensors.
inline constexpr char kHeaderLengthHeader[] = "Inference-Header-Content-Length";

class HttpInference;

class InferEndpoint {
 public:
  // `server` must outlive the endpoint, and the endpoint must outlive every request:
  // destroy it after the server has stopped and `compression` has ended. On `compression` large
  // bodies are decompressed and read, and large answers compressed.
  InferEndpoint(Server* server, ThreadPool* compression, const HttpFrontendOptions& options);

  // Answers at once if the request cannot be issued, otherwise when its response arrives. Runs on
  // an I/O thread; never blocks.
  void Handle(const PathNames& names, std::unique_ptr<HttpRequest> request,
              HttpResponder responder);

 private:
  // A request whose body is still compressed.
  struct Compressed;

  // Reads the JSON of a large body, and issues the request, on another thread; refuses it if too
  // much is waiting there.
  void ReadElsewhere(std::unique_ptr<HttpRequest> request,
                     std::shared_ptr<HttpInference> inference);
  void HandleCompressed(std::unique_ptr<Compressed> compressed, InlineTurn* turn);
  void DecompressElsewhere(std::unique_ptr<Compressed> compressed);
  // Continues on another thread where HandleCompressed stopped.
  void Continue(std::unique_ptr<Compressed> compressed);
  // Turns `request`, whose body is plain, into an inference.
  absl::Status Read(const HttpRequest& request, HttpInference* inference) const;
  void IssueOrRefuse(const absl::Status& read, std::shared_ptr<HttpInference> inference,
                     InlineTurn* turn);

  Server* const server_;
  ThreadPool* const compression_;
  const RequestLimits limits_;
  const NonFinite non_finite_;
  const SharedMemoryRegistry* const shared_memory_;
  const HeaderForwarding header_forwarding_;
  Tracing* const tracing_;
  const OutputAllocators allocators_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_
