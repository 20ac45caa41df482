// InferEndpoint: POST /v2/models/M[/versions/V]/infer, from the received body to the server and
// back. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_
#define NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>

#include "base/spare_executor.h"
#include "frontends/codec/request_limits.h"
#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

// Name of the header that says how much of a body is JSON; the rest is binary tensors.
inline constexpr char kHeaderLengthHeader[] = "Inference-Header-Content-Length";

class HttpInference;

class InferEndpoint {
 public:
  // `server` must outlive this, and this every request: it goes after the server has stopped, and
  // `compression` has ended, where large bodies are decompressed and read, and large answers
  // compressed.
  InferEndpoint(Server* server, SpareExecutor* compression, const RequestLimits& limits);

  // Answers at once when the request cannot be issued, otherwise when its response is there.
  // Runs on an I/O thread; never blocks.
  void Handle(const PathNames& names, std::unique_ptr<HttpRequest> request,
              HttpResponder responder);

 private:
  // A request whose body is not plain yet.
  struct Compressed;

  // Has the JSON of a large body read, and the request issued, on another thread. False, with the
  // request where it was: too much waits there.
  bool ReadElsewhere(std::unique_ptr<HttpRequest>* request,
                     const std::shared_ptr<HttpInference>& inference);
  void HandleCompressed(std::unique_ptr<Compressed> compressed, InlineTurn* turn);
  void DecompressElsewhere(std::unique_ptr<Compressed> compressed);
  // Takes up what HandleCompressed has left, on another thread.
  void Continue(std::unique_ptr<Compressed> compressed);
  // Makes `request`, of which the body is plain, an inference.
  absl::Status Read(const HttpRequest& request, HttpInference* inference) const;
  void IssueOrRefuse(const absl::Status& read, HttpInference* inference, InlineTurn* turn);

  Server* const server_;
  SpareExecutor* const compression_;
  const RequestLimits limits_;
  const HeapOutputAllocator allocator_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_INFER_ENDPOINT_H_
