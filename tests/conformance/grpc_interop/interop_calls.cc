// SPDX-License-Identifier: Apache-2.0
#include "interop_calls.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <string>
#include <utility>

#include "interop.pb.h"

namespace nereid::interop {
namespace {

using grpc::testing::EchoStatus;
using grpc::testing::Payload;
using grpc::testing::ResponseParameters;
using grpc::testing::SimpleRequest;
using grpc::testing::SimpleResponse;
using grpc::testing::StreamingInputCallRequest;
using grpc::testing::StreamingInputCallResponse;
using grpc::testing::StreamingOutputCallRequest;
using grpc::testing::StreamingOutputCallResponse;

constexpr char kService[] = "/grpc.testing.TestService/";
constexpr char kEchoInitial[] = "x-grpc-test-echo-initial";
constexpr char kEchoTrailing[] = "x-grpc-test-echo-trailing-bin";
constexpr GrpcCompression kCompression = GrpcCompression::kLow;
constexpr int32_t kLargestPayload = 64 << 20;
// Bytes of a stream that may wait for the connection before the next message is made.
constexpr size_t kAheadBytes = 64 << 10;

bool IsSizeOfPayload(int32_t size) { return size >= 0 && size <= kLargestPayload; }

void Fill(int32_t size, Payload* payload) {
  payload->mutable_body()->assign(static_cast<size_t>(size), '\0');
}

// What the calls share: they echo metadata and end with the status that the client asks for.
class InteropCall : public GrpcCall {
 public:
  using GrpcCall::GrpcCall;

 protected:
  void OnBegin() override {
    if (const absl::string_view echo = header(kEchoInitial); !echo.empty()) {
      AddInitialMetadata(kEchoInitial, echo);
    }
    std::string echo;
    if (absl::Base64Unescape(header(kEchoTrailing), &echo) && !echo.empty()) {
      AddTrailer(kEchoTrailing, echo);
    }
    CompressAnswersFor(kCompression);
  }

  // False if the call has ended, because the message is damaged or not compressed as announced.
  template <typename Request>
  bool Read(const ReceivedBody& message, Request* request) {
    if (!request->ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      SendStatus(absl::InternalError("the message cannot be parsed"));
    } else if (IsUnexpected(*request)) {
      SendStatus(absl::InvalidArgumentError("'expect_compressed' does not tell how it was sent"));
    }
    return !ended();
  }

  void Answer(const google::protobuf::MessageLite& message, bool compressed) {
    OutMessage out(message.SerializeAsString());
    if (compressed) {
      if (const absl::Status status = out.Compress(answer_coding(), kCompression); !status.ok())
        return SendStatus(status);
    }
    SendMessage(std::move(out));
  }

  // False if the client asks for no error.
  bool EndWith(const EchoStatus& status) {
    if (status.code() == 0) return false;
    const bool known = status.code() > 0 && status.code() <= 16;
    SendStatus(known ? static_cast<GrpcCode>(status.code()) : GrpcCode::kUnknown, status.message());
    return true;
  }

  void RefuseSize() {
    SendStatus(absl::InvalidArgumentError(
        absl::StrCat("the size of a payload must be 0 to ", kLargestPayload)));
  }

 private:
  template <typename Request>
  bool IsUnexpected(const Request& request) const {
    return request.has_expect_compressed() &&
           request.expect_compressed().value() != message_was_compressed();
  }
  bool IsUnexpected(const StreamingOutputCallRequest&) const { return false; }
};

// EmptyCall, and what a call with one message and one answer has to be.
class EmptyCall : public InteropCall {
 public:
  using InteropCall::InteropCall;

 protected:
  virtual void AnswerTo(const ReceivedBody&) { Answer(grpc::testing::Empty(), false); }

 private:
  void OnMessage(std::shared_ptr<ReceivedBody> message) final {
    if (message_ != nullptr) return SendStatus(absl::InternalError("more than one message"));
    message_ = std::move(message);
  }
  void OnHalfClose() final {
    if (message_ == nullptr) return SendStatus(absl::InternalError("a message is missing"));
    AnswerTo(*message_);
    SendStatus(absl::OkStatus());
  }

  std::shared_ptr<ReceivedBody> message_;
};

class UnaryCall final : public EmptyCall {
 public:
  using EmptyCall::EmptyCall;

 private:
  void AnswerTo(const ReceivedBody& message) override {
    SimpleRequest request;
    if (!Read(message, &request) || EndWith(request.response_status())) return;
    if (!IsSizeOfPayload(request.response_size())) return RefuseSize();
    SimpleResponse response;
    Fill(request.response_size(), response.mutable_payload());
    Answer(response, request.response_compressed().value());
  }
};

// StreamingInputCall: counts what arrives.
class InputCall final : public InteropCall {
 public:
  using InteropCall::InteropCall;

 private:
  void OnMessage(std::shared_ptr<ReceivedBody> message) override {
    StreamingInputCallRequest request;
    if (Read(*message, &request)) bytes_ += request.payload().body().size();
  }
  void OnHalfClose() override {
    StreamingInputCallResponse response;
    response.set_aggregated_payload_size(static_cast<int32_t>(bytes_));
    Answer(response, false);
    SendStatus(absl::OkStatus());
  }

  size_t bytes_ = 0;
};

enum class Begin { kAtOnce, kWithHalfClose };

// StreamingOutputCall, FullDuplexCall and HalfDuplexCall: each message asks for any number of
// answers.
class OutputCall final : public InteropCall {
 public:
  // `begin`: when the first answer may be sent.
  OutputCall(Origin origin, Begin begin, int most_messages)
      : InteropCall(std::move(origin)),
        begin_(begin),
        most_messages_(most_messages),
        timer_(connection().loop()->context()) {}

 private:
  struct Step {
    ResponseParameters parameters;
    EchoStatus status;  // other than OK: instead of an answer
  };

  void OnMessage(std::shared_ptr<ReceivedBody> message) override {
    if (messages_++ == most_messages_) {
      return SendStatus(absl::InternalError("more than one message"));
    }
    StreamingOutputCallRequest request;
    if (!Read(*message, &request)) return;
    for (const ResponseParameters& one : request.response_parameters()) steps_.push_back({one, {}});
    if (request.response_status().code() != 0) steps_.push_back({{}, request.response_status()});
    if (begin_ == Begin::kAtOnce) GoOn();
  }
  void OnHalfClose() override {
    half_closed_ = true;
    GoOn();
  }
  void OnSent() override {
    blocked_ = false;
    GoOn();
  }
  void OnCancelled() override { timer_.cancel(); }
  void OnStreamClosed() override { timer_.cancel(); }

  void GoOn() {
    while (!ended() && !blocked_ && !pausing_ && !steps_.empty()) {
      const int32_t pause = steps_.front().parameters.interval_us();
      if (pause > 0) return Pause(std::chrono::microseconds(pause));
      Take();
    }
    if (half_closed_ && steps_.empty()) SendStatus(absl::OkStatus());
  }

  void Pause(std::chrono::microseconds pause) {
    pausing_ = true;
    timer_.expires_after(pause);
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = std::static_pointer_cast<OutputCall>(weak.lock());
      if (error || self == nullptr || self->ended()) return;
      self->pausing_ = false;
      self->Take();
      self->GoOn();
    });
  }

  void Take() {
    const Step step = std::move(steps_.front());
    steps_.pop_front();
    if (EndWith(step.status)) return;
    if (!IsSizeOfPayload(step.parameters.size())) return RefuseSize();
    StreamingOutputCallResponse response;
    Fill(step.parameters.size(), response.mutable_payload());
    Answer(response, step.parameters.compressed().value());
    blocked_ = stream()->unsent() > kAheadBytes;
  }

  const Begin begin_;
  const int most_messages_;  // -1: any number
  boost::asio::steady_timer timer_;
  std::deque<Step> steps_;
  int messages_ = 0;
  bool half_closed_ = false;
  bool blocked_ = false;  // OnSent goes on
  bool pausing_ = false;  // the timer goes on
};

}  // namespace

std::shared_ptr<GrpcCall> MakeCall(absl::string_view path, GrpcCall::Origin origin) {
  if (!absl::ConsumePrefix(&path, kService)) return nullptr;
  if (path == "EmptyCall") return std::make_shared<EmptyCall>(std::move(origin));
  if (path == "UnaryCall") return std::make_shared<UnaryCall>(std::move(origin));
  if (path == "StreamingInputCall") return std::make_shared<InputCall>(std::move(origin));
  if (path == "StreamingOutputCall") {
    return std::make_shared<OutputCall>(std::move(origin), Begin::kWithHalfClose, 1);
  }
  if (path == "FullDuplexCall") {
    return std::make_shared<OutputCall>(std::move(origin), Begin::kAtOnce, -1);
  }
  if (path == "HalfDuplexCall") {
    return std::make_shared<OutputCall>(std::move(origin), Begin::kWithHalfClose, -1);
  }
  return nullptr;
}

}  // namespace nereid::interop
