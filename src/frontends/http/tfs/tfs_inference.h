// SPDX-License-Identifier: Apache-2.0
// TfsInference: the flight of one predict, classify or regress request of TensorFlow Serving's API:
// the bytes that the request points into, and the way back to the client.
//
// One thread at a time fills it, and then either refuses or issues it. Shared with the connection's
// thread, which may cancel it, and until the answer is made.
#ifndef NEREID_FRONTENDS_HTTP_TFS_TFS_INFERENCE_H_
#define NEREID_FRONTENDS_HTTP_TFS_TFS_INFERENCE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/compression.h"
#include "frontends/codec/non_finite.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/http/forwarded_headers.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_trace.h"
#include "frontends/tfs/tfs_request_reader.h"
#include "infer/flight.h"
#include "server/server.h"

namespace nereid {

// How an answer is written: numbers that are not finite, and the body.
struct TfsAnswerForm {
  NonFinite non_finite;
  ContentCoding coding;
};

class TfsInference final : public Flight, public std::enable_shared_from_this<TfsInference> {
 public:
  // Large answers are written and compressed on `executor`.
  TfsInference(std::shared_ptr<ServingModel> model, int64_t version, TfsMethod method,
               TfsAnswerForm form, ThreadPool* executor)
      : executor_(executor), form_(form) {
    call_.method = method;
    Draft(std::move(model), version);
  }

  // Chooses whether `request` is traced. REQUIRES: not issued.
  void Trace(Tracing* tracing, const HttpRequest& request) {
    traced_ = BeginHttpTrace(tracing, request, draft());
  }

  // Takes the duty to answer, and from now on notices when the client leaves. REQUIRES: called
  // inside HttpHandler::Handle on its thread.
  void Attach(HttpResponder responder);

  // Reads `body` (null: there is none) into the core's request; `budget` pays for the memory needed
  // and for the text of the answer. Errors of ReadTfsRequest.
  absl::Status Read(std::shared_ptr<ReceivedBody> body, const RequestLimits& limits,
                    Budget* budget);

  // Gives the model the `headers` that `forwarding` chooses. REQUIRES: Read has succeeded.
  absl::Status Forward(const HeaderForwarding& forwarding, absl::Span<const HttpHeader> headers) {
    return ForwardHeaders(forwarding, headers, draft());
  }

  // Hands the request of `inference` to `server`, which may execute it in `turn` (null: it may
  // not). The answer goes to the responder on every path. REQUIRES: Attach.
  static void Issue(std::shared_ptr<TfsInference> inference, Server* server,
                    const OutputAllocator* allocator, InlineTurn* turn);
  // Answers without issuing the request. REQUIRES: Attach, and not issued.
  void Refuse(const absl::Status& error);

 private:
  // Flight
  void OnReleased() override;
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override;

  void CompleteWithError(const absl::Status& error);
  // Has the answer made on a suitable thread, and sent.
  void Answer();
  bool TakesLongToWrite() const;
  HttpResponse MakeAnswer();
  absl::StatusOr<HttpResponse> WriteAnswer();

  ThreadPool* const executor_;
  const TfsAnswerForm form_;
  TfsCall call_;  // constant once read
  Budget* budget_ = nullptr;
  std::shared_ptr<Holder> holder_;  // the client
  std::shared_ptr<ReceivedBody> body_;
  RequestBuffers buffers_;  // memory that the inputs point into
  std::optional<HttpResponder> responder_;
  OnlyResponse response_;
  TracedRequestPtr traced_;  // until the answer is made
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_TFS_TFS_INFERENCE_H_
