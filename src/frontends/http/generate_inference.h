// GenerateInference: one generate or generate_stream request in progress: the data that the core's
// request points to, and the way back to the client.
//
// Shared by the core, until the request is released and its final response has arrived (in either
// order), and by whoever may cancel it. Handle's thread fills it; after Issue only Cancel may be
// called.
#ifndef NEREID_FRONTENDS_HTTP_GENERATE_INFERENCE_H_
#define NEREID_FRONTENDS_HTTP_GENERATE_INFERENCE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/mutex.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/http/http_body_stream.h"
#include "frontends/http/http_message.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "server/server.h"

namespace nereid {

class GenerateInference : public std::enable_shared_from_this<GenerateInference> {
 public:
  GenerateInference(std::shared_ptr<ServingModel> model, int64_t version)
      : request_(std::move(model), version) {}

  // Reads `body` (null: there is none) into the core's request; `budget` pays for the memory needed
  // and for the texts of answers. Errors of ReadGenerateRequest.
  absl::Status Read(std::shared_ptr<HttpBody> body, const RequestLimits& limits, Budget* budget);
  // Keeps `slot`, one of the server's requests in flight, until the end.
  void set_slot(BudgetUnits slot) { slot_ = std::move(slot); }

  // Hands the request to `server`; the answer goes to `responder` on every path: each response as
  // an event of `events` or, if that is null, the single response as a whole.
  void Issue(Server* server, const OutputAllocator* allocator,
             std::shared_ptr<HttpBodyStream> events, HttpResponder responder);

  // Asks the core to cancel. Any thread, at any time after Issue.
  void Cancel();

 private:
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);

  // None if it was taken already.
  std::optional<HttpResponder> TakeResponder() ABSL_LOCKS_EXCLUDED(mu_);
  // ---- generate
  void ReceiveOnly(std::unique_ptr<InferResponse> response, bool is_final) ABSL_LOCKS_EXCLUDED(mu_);
  HttpResponse MakeResponse() ABSL_LOCKS_EXCLUDED(mu_);
  // ---- generate_stream
  void ReceiveEvent(std::unique_ptr<InferResponse> response, bool is_final);
  // Sends the header of the stream, unless it was sent already.
  void StartStream(int http_status) ABSL_LOCKS_EXCLUDED(mu_);

  BudgetUnits slot_;
  std::shared_ptr<HttpBody> body_;
  RequestBuffers buffers_;  // memory that the inputs point into
  InferRequest request_;
  Budget* in_flight_bytes_ = nullptr;
  std::shared_ptr<HttpBodyStream> events_;  // null: generate

  // Each keeps this object alive until its event.
  std::shared_ptr<GenerateInference> until_released_;
  std::shared_ptr<GenerateInference> until_answered_;

  Mutex mu_;
  std::optional<HttpResponder> responder_ ABSL_GUARDED_BY(mu_);  // until the answer begins
  uint32_t response_count_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<InferResponse> response_ ABSL_GUARDED_BY(mu_);  // the first response
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_GENERATE_INFERENCE_H_
