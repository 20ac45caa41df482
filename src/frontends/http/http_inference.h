// HttpInference: one inference request of an HTTP client in progress: the data that the core's
// request points to, and the way back to the client.
//
// Shared by the core, until the request is released and its final response has arrived (in either
// order), and by whoever may cancel it. One thread at a time fills it, and answers or issues it.
// Cancel and cancelled may be called on any thread at any time; after Issue nothing else may be
// called.
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
  // Large answers are compressed on `compression`, which must end before `budget` is destroyed.
  HttpInference(std::shared_ptr<ServingModel> model, int64_t version, ContentCoding response_coding,
                SpareExecutor* compression)
      : compression_(compression),
        response_coding_(response_coding),
        request_(std::move(model), version) {}

  // Takes the duty to answer, and from now on notices when the client leaves. REQUIRES: called
  // inside HttpHandler::Handle on its thread.
  void Attach(HttpResponder responder);

  // Reads `body` (null: there is none), whose first `header_length` bytes are JSON, into the core's
  // request. `budget` pays for the memory needed and for the text of the answer. Errors of
  // ReadV2Request.
  absl::Status Read(std::shared_ptr<HttpBody> body, std::optional<size_t> header_length,
                    const RequestLimits& limits, Budget* budget);

  // Keeps `slot`, one of the server's requests in flight, until the end.
  void set_slot(BudgetUnits slot) { slot_ = std::move(slot); }
  // Hands the request to `server`, which may execute it in `turn` (null: it may not); the answer
  // goes to the responder on every path. REQUIRES: Attach.
  void Issue(Server* server, const OutputAllocator* allocator, InlineTurn* turn);
  // Answers without issuing the request. REQUIRES: Attach, and not issued.
  void Refuse(const absl::Status& error);

  // The client has left, or seems to have left. Asks the core to cancel, if the core has the
  // request.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);
  bool cancelled() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  void Receive(std::unique_ptr<InferResponse> response) ABSL_LOCKS_EXCLUDED(mu_);
  // Has the response built on a suitable thread, and sent.
  void Answer() ABSL_LOCKS_EXCLUDED(mu_);
  void AnswerOnIoThread();
  // False if too much is waiting already, or if there is no memory.
  bool CompressElsewhere();
  void CompressAndAnswer() ABSL_LOCKS_EXCLUDED(mu_);
  bool TakesLongToCompress() const ABSL_LOCKS_EXCLUDED(mu_);
  HttpResponse MakeResponse() ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<HttpResponse> WriteResponse(std::unique_ptr<InferResponse> response);

  SpareExecutor* const compression_;
  ContentCoding response_coding_;
  Budget* budget_ = nullptr;
  BudgetUnits slot_;
  std::shared_ptr<HttpBody> body_;  // with buffers_, the memory that the inputs point into
  RequestBuffers buffers_;
  OutputFormats formats_;
  InferRequest request_;
  std::optional<HttpResponder> responder_;

  // Each keeps this object alive until its event.
  std::shared_ptr<HttpInference> until_released_;
  std::shared_ptr<HttpInference> until_answered_;

  mutable Mutex mu_;
  // Set when the core certainly has the request, so that it may be asked to cancel.
  bool issued_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  uint32_t response_count_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<InferResponse> response_ ABSL_GUARDED_BY(mu_);  // the first response
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_INFERENCE_H_
