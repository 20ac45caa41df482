// HttpInference: one inference request of an HTTP client while it is under way: what the core's
// request points to, and the way back to the client.
//
// Shared by the core, until the request is released and its final response is there (in any
// order), and by whoever may cancel it. One thread at a time fills it, and answers or issues it;
// Cancel and cancelled may be called on any thread at any time, and after Issue nothing else.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_
#define NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/mutex.h"
#include "base/spare_executor.h"
#include "frontends/codec/compression.h"
#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/http/http_message.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "server/server.h"

namespace nereid {

class HttpInference : public std::enable_shared_from_this<HttpInference> {
 public:
  // Large answers are compressed on `compression`, which has to end before `budget` goes.
  HttpInference(std::shared_ptr<ServingModel> model, int64_t version, ContentCoding response_coding,
                SpareExecutor* compression)
      : compression_(compression),
        response_coding_(response_coding),
        request_(std::move(model), version) {}

  // Takes the duty to answer, and from here on notices that the client leaves. REQUIRES: called
  // inside HttpHandler::Handle on its thread.
  void Attach(HttpResponder responder);

  // Reads `body` (null: there is none), whose first `header_length` bytes are JSON, into the
  // core's request. `budget` pays for what that takes, and for the text of the answer. Errors of
  // ReadV2Request.
  absl::Status Read(std::shared_ptr<HttpBody> body, std::optional<size_t> header_length,
                    const RequestLimits& limits, Budget* budget);

  // Keeps `slot`, of the server's requests in flight, to the end.
  void set_slot(BudgetUnits slot) { slot_ = std::move(slot); }
  // Hands the request to `server`, which may execute it in `turn` (null: may not); the answer goes
  // to the responder on every path. REQUIRES: Attach.
  void Issue(Server* server, const OutputAllocator* allocator, InlineTurn* turn);
  // Answers instead. REQUIRES: Attach, and not issued.
  void Refuse(const absl::Status& error);

  // The client has left, or seems to have. Asks the core to give up, if it has the request.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);
  bool cancelled() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  void Receive(std::unique_ptr<InferResponse> response) ABSL_LOCKS_EXCLUDED(mu_);
  // Has the response made where there is time for that, and sent.
  void Answer() ABSL_LOCKS_EXCLUDED(mu_);
  void AnswerOnIoThread();
  // False if too much waits already, or there is no memory.
  bool CompressElsewhere();
  void CompressAndAnswer() ABSL_LOCKS_EXCLUDED(mu_);
  bool TakesLongToCompress() const ABSL_LOCKS_EXCLUDED(mu_);
  HttpResponse MakeResponse() ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<HttpResponse> WriteResponse(std::unique_ptr<InferResponse> response);

  SpareExecutor* const compression_;
  ContentCoding response_coding_;
  Budget* budget_ = nullptr;
  BudgetUnits slot_;
  std::shared_ptr<HttpBody> body_;  // with buffers_, what the inputs point into
  RequestBuffers buffers_;
  OutputFormats formats_;
  InferRequest request_;
  std::optional<HttpResponder> responder_;

  // Each keeps this object until its event.
  std::shared_ptr<HttpInference> until_released_;
  std::shared_ptr<HttpInference> until_answered_;

  mutable Mutex mu_;
  // The core may be asked to cancel once it has the request for sure.
  bool issued_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  uint32_t response_count_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<InferResponse> response_ ABSL_GUARDED_BY(mu_);  // the first
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_
