// SPDX-License-Identifier: Apache-2.0
// GenerateInference: the flight of one generate or generate_stream request: the bytes that the
// request points into, and the way back to the client.
//
// One thread at a time fills it, and then either refuses or issues it. Shared with the connection's
// thread, which may cancel it, and until the answer is made.
#ifndef NEREID_FRONTENDS_HTTP_GENERATE_INFERENCE_H_
#define NEREID_FRONTENDS_HTTP_GENERATE_INFERENCE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/budget.h"
#include "base/mutex.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/non_finite.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/http/forwarded_headers.h"
#include "frontends/http/http_body_stream.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_trace.h"
#include "frontends/http/load_metrics.h"
#include "infer/flight.h"
#include "server/server.h"

namespace nereid {

class GenerateInference final : public Flight,
                                public std::enable_shared_from_this<GenerateInference> {
 public:
  // Large answers are written on `compression`.
  GenerateInference(std::shared_ptr<ServingModel> model, int64_t version, ThreadPool* compression)
      : compression_(compression) {
    Draft(std::move(model), version);
  }

  // One event, and the HTTP status of a stream that begins with it.
  struct Event {
    std::string text;
    int http_status = 200;
    absl::Status error;  // that it tells
  };

  // How numbers that are not finite are written unless the request chooses. REQUIRES: not read.
  void set_non_finite(NonFinite non_finite) { non_finite_ = non_finite; }

  // Chooses whether `request` is traced. REQUIRES: not issued.
  void Trace(Tracing* tracing, const HttpRequest& request) {
    traced_ = BeginHttpTrace(tracing, request, draft());
  }

  // Sends each response as an event of `events` rather than the single response as a whole.
  // REQUIRES: not attached.
  void set_events(std::shared_ptr<HttpBodyStream> events) { events_ = std::move(events); }

  // Takes the duty to answer, and from now on notices when the client leaves. REQUIRES: called
  // inside HttpHandler::Handle on its thread.
  void Attach(HttpResponder responder) ABSL_LOCKS_EXCLUDED(mu_);

  // Reads `body` (null: there is none) into the core's request; `budget` pays for the memory needed
  // and for the texts of answers. Errors of ReadGenerateRequest.
  absl::Status Read(std::shared_ptr<ReceivedBody> body, const RequestLimits& limits,
                    Budget* budget);

  // Gives the model the `headers` that `forwarding` chooses. REQUIRES: Read has succeeded.
  absl::Status Forward(const HeaderForwarding& forwarding, absl::Span<const HttpHeader> headers) {
    return ForwardHeaders(forwarding, headers, draft());
  }

  // Whether the model may send several responses. REQUIRES: not issued.
  bool is_decoupled() { return draft()->model()->config().decoupled; }

  // How the answer shall tell the server's load. REQUIRES: not issued.
  void set_load_metrics(LoadMetricsFormat format) { load_metrics_ = format; }

  // Hands the request of `inference` to `server`, which may execute it in `turn` (null: it may
  // not). The answer goes to the responder on every path. REQUIRES: Attach.
  static void Issue(std::shared_ptr<GenerateInference> inference, Server* server,
                    const OutputAllocator* allocator, InlineTurn* turn);
  // Answers without issuing the request. REQUIRES: Attach, and not issued.
  void Refuse(const absl::Status& error);

 private:
  // Flight
  void OnReleased() override;
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override;

  // None if it was taken already.
  std::optional<HttpResponder> TakeResponder() ABSL_LOCKS_EXCLUDED(mu_);
  void NoteSendingOf(HttpResponse* response) const;
  // The answer that tells an error.
  HttpResponse Failure(const absl::Status& error) const;
  // Has a thread of the executor call `job`. False if too much is waiting already, or if there is
  // no memory; the job is then left as it was.
  template <typename Job>
  bool RunElsewhere(Job* job);
  // ---- generate
  void Answer();
  HttpResponse MakeAnswer();
  HttpResponse MakeResponse();
  // ---- generate_stream
  void ReceiveEvent(std::unique_ptr<InferResponse> response, bool is_final);
  // The same for a response that takes an I/O thread too long to write. REQUIRES: it is the only
  // one, and final.
  void ReceiveElsewhere(std::unique_ptr<InferResponse> response);
  // Adds an event, or ends the stream if it has no room for more.
  void SendEvent(Event event, std::unique_ptr<InferResponse> response);
  // Sends the header of the stream, unless it was sent already.
  void StartStream(int http_status) ABSL_LOCKS_EXCLUDED(mu_);

  ThreadPool* const compression_;
  std::shared_ptr<ReceivedBody> body_;
  RequestBuffers buffers_;  // memory that the inputs point into
  Budget* in_flight_bytes_ = nullptr;
  std::shared_ptr<Holder> holder_;              // the client
  std::shared_ptr<HttpBodyStream> events_;      // null: generate
  OnlyResponse response_;                       // of generate
  TracedRequestPtr traced_;                     // constant once issued
  NonFinite non_finite_ = NonFinite::kLiteral;  // constant once read
  LoadMetricsFormat load_metrics_ = LoadMetricsFormat::kNone;

  Mutex mu_;
  std::optional<HttpResponder> responder_ ABSL_GUARDED_BY(mu_);  // until the answer begins
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_GENERATE_INFERENCE_H_
