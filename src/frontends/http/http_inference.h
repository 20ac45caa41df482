// SPDX-License-Identifier: Apache-2.0
// HttpInference: the flight of one inference request of an HTTP client: the bytes that the request
// points into, and the way back to the client.
//
// One thread at a time fills it, and then either refuses or issues it. Shared with the connection's
// thread, which may cancel it, and until the answer is made.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_
#define NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/compression.h"
#include "frontends/codec/output_formats.h"
#include "frontends/codec/placed_output_allocator.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/http/forwarded_headers.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_trace.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "infer/flight.h"
#include "server/server.h"

namespace nereid {

class HttpInference final : public Flight, public std::enable_shared_from_this<HttpInference> {
 public:
  // Large answers are written and compressed on `compression`, which must end before `budget` is
  // destroyed.
  HttpInference(std::shared_ptr<ServingModel> model, int64_t version, ContentCoding response_coding,
                ThreadPool* compression)
      : compression_(compression), response_coding_(response_coding) {
    Draft(std::move(model), version);
  }

  // How numbers that are not finite are written unless the request chooses. REQUIRES: not read.
  void set_non_finite(NonFinite non_finite) { formats_.non_finite = non_finite; }

  // Chooses whether `request` is traced. REQUIRES: not issued.
  void Trace(Tracing* tracing, const HttpRequest& request) {
    traced_ = BeginHttpTrace(tracing, request, draft());
  }

  // Takes the duty to answer, and from now on notices when the client leaves. REQUIRES: called
  // inside HttpHandler::Handle on its thread.
  void Attach(HttpResponder responder);

  // Reads `body` (null: there is none), whose first `header_length` bytes are JSON, into the core's
  // request. `budget` pays for the memory needed and for the text of the answer. Errors of
  // ReadV2Request.
  absl::Status Read(std::shared_ptr<ReceivedBody> body, std::optional<size_t> header_length,
                    const RequestLimits& limits, Budget* budget,
                    const SharedMemoryRegistry* shared_memory);

  // Gives the model the `headers` that `forwarding` chooses. REQUIRES: Read has succeeded.
  absl::Status Forward(const HeaderForwarding& forwarding, absl::Span<const HttpHeader> headers) {
    return ForwardHeaders(forwarding, headers, draft());
  }

  // Hands the request of `inference` to `server`, which may execute it in `turn` (null: it may
  // not). The answer goes to the responder on every path. REQUIRES: Attach.
  static void Issue(std::shared_ptr<HttpInference> inference, Server* server,
                    const OutputAllocators& allocators, InlineTurn* turn);
  // Answers without issuing the request. REQUIRES: Attach, and not issued.
  void Refuse(const absl::Status& error);

 private:
  // Flight
  void OnReleased() override;
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override;

  void CompleteWithError(const absl::Status& error);
  // Has the response built on a suitable thread, and sent.
  void Answer();
  void AnswerOnIoThread();
  // False if too much is waiting already, or if there is no memory.
  bool WriteElsewhere();
  void WriteAndAnswer();
  bool TakesLongToWrite() const;
  HttpResponse MakeResponse();
  absl::StatusOr<HttpResponse> WriteOnlyResponse();
  absl::StatusOr<HttpResponse> WriteResponse(std::unique_ptr<InferResponse> response);

  ThreadPool* const compression_;
  ContentCoding response_coding_;
  Budget* budget_ = nullptr;
  std::shared_ptr<Holder> holder_;      // the client
  std::shared_ptr<ReceivedBody> body_;  // with buffers_, the memory that the inputs point into
  RequestBuffers buffers_;
  OutputFormats formats_;
  std::optional<HttpResponder> responder_;
  OnlyResponse response_;
  TracedRequestPtr traced_;  // until the answer is made
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_
