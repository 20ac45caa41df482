// SPDX-License-Identifier: Apache-2.0
// OpenAiInference: the flight of one request of OpenAI's API: the bytes that the request points
// into, and the way back to the client.
//
// One thread at a time fills it, and then either refuses or issues it. Shared with the connection's
// thread, which may cancel it, and until the answer is made.
#ifndef NEREID_FRONTENDS_HTTP_OPENAI_INFERENCE_H_
#define NEREID_FRONTENDS_HTTP_OPENAI_INFERENCE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/budget.h"
#include "base/mutex.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/header_forwarding/header_forwarding.h"
#include "frontends/http/http_body_stream.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_trace.h"
#include "frontends/http/load_metrics.h"
#include "frontends/openai/openai_answer.h"
#include "infer/flight.h"
#include "server/server.h"

namespace nereid {

// An error in the form of OpenAI's API.
HttpResponse OpenAiErrorResponse(const absl::Status& error);

class OpenAiInference final : public Flight, public std::enable_shared_from_this<OpenAiInference> {
 public:
  // What all requests have in common; outlives them.
  struct Surroundings {
    Server* server;
    ThreadPool* compression;  // large answers are written there
    Tracing* tracing;
    RequestLimits limits;
    uint64_t max_waiting_bytes;  // of a stream
    HeaderForwarding header_forwarding;
    HeapOutputAllocator allocator;
  };

  OpenAiInference(OpenAiRoute route, const Surroundings* around)
      : route_(route), around_(*around) {}

  // How the answer shall tell the server's load. REQUIRES: not issued.
  void set_load_metrics(LoadMetricsFormat format) { load_metrics_ = format; }

  // Takes the duty to answer, and from now on notices when the client leaves. REQUIRES: called
  // inside HttpHandler::Handle on its thread.
  void Attach(HttpResponder responder) ABSL_LOCKS_EXCLUDED(mu_);

  // Reads the body of `request`, finds the model that it names, and makes the core's request. May
  // be called again after an error that says that the model is being loaded.
  absl::Status Read(const HttpRequest& request) ABSL_LOCKS_EXCLUDED(mu_);

  // Hands the request of `inference` to the server. The answer goes to the responder on every path.
  // REQUIRES: Attach, and Read has succeeded.
  static void Issue(std::shared_ptr<OpenAiInference> inference);
  // Answers without issuing the request. REQUIRES: Attach, and not issued.
  void Refuse(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Flight
  void OnReleased() override;
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override;

  // None if it was taken already.
  std::optional<HttpResponder> TakeResponder() ABSL_LOCKS_EXCLUDED(mu_);
  void NoteSendingOf(HttpResponse* response) const;
  HttpResponse Failure(const absl::Status& error) const;
  // Finds the model, and gives its request the identity that the answer will have.
  absl::Status Begin(const JsonValue& body, const HttpRequest& request) ABSL_LOCKS_EXCLUDED(mu_);
  // Prepares the stream of events.
  void BeginEvents(bool decoupled);

  // Takes a response, or null, on a thread that may write long texts.
  void Receive(std::unique_ptr<InferResponse> response, bool is_final) ABSL_LOCKS_EXCLUDED(mu_);
  // The model's error, or what is wrong with its response; `*events` gets what is to be sent.
  absl::Status Take(const InferResponse& response, std::string* events) ABSL_LOCKS_EXCLUDED(mu_);
  // Keeps the first error. False: there was one before.
  bool Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);
  // ---- One object.
  void Answer() ABSL_LOCKS_EXCLUDED(mu_);
  HttpResponse MakeAnswer() ABSL_LOCKS_EXCLUDED(mu_);
  // ---- Events.
  // Sends events that were made of `response`, or ends the stream if it has no room for more.
  void SendEvents(std::string events, std::unique_ptr<InferResponse> response);
  void EndEvents() ABSL_LOCKS_EXCLUDED(mu_);
  // Answers with the error, or ends the stream with it if that has begun.
  void EndWithError(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);
  // Sends the header of the stream, unless it was sent already.
  void StartStream() ABSL_LOCKS_EXCLUDED(mu_);

  const OpenAiRoute route_;
  const Surroundings& around_;
  std::shared_ptr<Holder> holder_;  // the client
  std::shared_ptr<ReceivedBody> body_;
  RequestBuffers buffers_;                  // memory that the inputs point into
  std::shared_ptr<HttpBodyStream> events_;  // null: the answer is one object. Constant once issued
  TracedRequestPtr traced_;                 // constant once issued
  LoadMetricsFormat load_metrics_ = LoadMetricsFormat::kNone;

  Mutex mu_;
  std::optional<HttpResponder> responder_ ABSL_GUARDED_BY(mu_);  // until the answer begins
  std::optional<OpenAiAnswer> answer_ ABSL_GUARDED_BY(mu_);      // of a request that was read
  BudgetUnits units_ ABSL_GUARDED_BY(mu_);                       // pay for `answer_`
  absl::Status failure_ ABSL_GUARDED_BY(mu_);                    // the first
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OPENAI_INFERENCE_H_
