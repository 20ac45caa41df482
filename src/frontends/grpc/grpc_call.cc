// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/grpc_call.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/grpc/wire/call_head.h"
#include "infer/request_cost.h"

namespace nereid {
namespace {

using http2::Header;

constexpr Header kStatusOk = {":status", "200", true};
constexpr Header kContentType = {"content-type", "application/grpc", true};
constexpr Header kPlain = {"content-type", "text/plain", true};
constexpr Header kReadable = {"grpc-accept-encoding", kReadableCodings, true};

// The code as text, for the lifetime of the program.
absl::string_view CodeText(GrpcCode code) {
  static constexpr std::array<absl::string_view, 17> kTexts = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return kTexts[static_cast<size_t>(code)];
}

// Answers' own bytes that a call's fixed cost pays for.
constexpr uint64_t kFreeAnswerBytes = 4096;
// The longest text of a status: clients accept some thousand bytes of trailers.
constexpr size_t kMostStatusBytes = 4096;

using Headers = absl::InlinedVector<Header, 5>;

// Views of `fields` behind `headers`.
void AppendFields(absl::Span<const std::pair<std::string, std::string>> fields, Headers* headers) {
  for (const auto& [name, value] : fields) headers->push_back({name, value, false});
}

std::string EncodeField(absl::string_view name, absl::string_view value) {
  return absl::EndsWith(name, "-bin") ? EncodeBinaryMetadata(value) : std::string(value);
}

// Ends a stream with a status and `fields`; without a head, in one frame with it.
void SendEnd(http2::Stream* stream, bool head_sent, GrpcCode code, absl::string_view message,
             absl::Span<const std::pair<std::string, std::string>> fields) {
  Headers headers;
  if (!head_sent) headers = {kStatusOk, kContentType, kReadable};
  headers.push_back({"grpc-status", CodeText(code), true});
  std::string text = EncodeStatusMessage(message.substr(0, kMostStatusBytes));
  if (message.size() > kMostStatusBytes) {
    absl::StrAppend(&text, "... (", message.size(), " bytes in all)");
  }
  if (!text.empty()) headers.push_back({"grpc-message", text, false});
  AppendFields(fields, &headers);
  if (head_sent) {
    stream->Finish(headers);
  } else {
    stream->SendHead(headers, /*end=*/true);
  }
}

void LogCall(const http2::Stream& stream) {
  LOG_VERBOSE_REQUEST << "gRPC request: "
                      << stream.FindHeader(":path").substr(0, AccessLog::kLongestText);
}

// Whether a field of the head is the client's own, not one of HTTP or gRPC.
bool IsMetadata(absl::string_view name) {
  return !name.empty() && name.front() != ':' && name != "content-type" && name != "te" &&
         !absl::StartsWith(name, "grpc-");
}

// A request that is no gRPC call. Is answered at its end, so that until then the library sees what
// else the client gets wrong.
class NoCall final : public http2::StreamUser {
 public:
  // `stream` calls this object, so it is there.
  NoCall(http2::Stream* stream, absl::string_view why_no_rest)
      : stream_(stream),
        is_post_(stream->FindHeader(":method") == "POST"),
        why_no_rest_(why_no_rest) {}

  void OnData(absl::string_view bytes) override { stream_->Consume(bytes.size()); }
  void OnEndOfInput() override {
    static constexpr Header kNotPost[] = {
        {":status", "405", true}, {"allow", "POST", true}, kPlain};
    static constexpr Header kNotGrpc[] = {{":status", "415", true}, kPlain};
    const bool is_head = stream_->FindHeader(":method") == "HEAD";  // whose answer has no body
    stream_->SendHead(is_post_ ? absl::MakeConstSpan(kNotGrpc) : absl::MakeConstSpan(kNotPost),
                      /*end=*/is_head);
    if (is_head) return;
    stream_->Append(is_post_ ? "This port speaks gRPC: 'content-type' must be application/grpc.\n"
                             : "This port speaks gRPC: the method must be POST.\n");
    if (!why_no_rest_.empty()) {
      stream_->Append(absl::StrCat("REST is not served on this port: ", why_no_rest_, ".\n"));
    }
    stream_->Finish({});
  }
  void OnClosed(bool) override {}

 private:
  http2::Stream* const stream_;
  const bool is_post_;
  const std::string why_no_rest_;
};

}  // namespace

GrpcCall::GrpcCall(Origin origin, Messages messages)
    : origin_(std::move(origin)),
      reader_(origin_.environment->server->in_flight_bytes(), origin_.limit, holder()),
      messages_(messages),
      reading_pace_(environment().stall_timeout, environment().min_bytes_per_second),
      // Who reads a stream of answers may do so as slowly as it likes, as long as it reads: what
      // waits for it is limited.
      writing_pace_(environment().stall_timeout,
                    messages == Messages::kOne ? environment().min_bytes_per_second : 0) {}

bool GrpcCall::IsCall(const http2::Stream& stream) {
  return stream.FindHeader(":method") == "POST" &&
         IsGrpcContentType(stream.FindHeader("content-type"));
}

std::shared_ptr<http2::StreamUser> GrpcCall::RefuseOther(http2::Stream* stream,
                                                         absl::string_view why_no_rest) {
  return std::make_shared<NoCall>(stream, why_no_rest);
}

void GrpcCall::Refuse(http2::Stream* stream, const absl::Status& error) {
  LogCall(*stream);
  SendEnd(stream, /*head_sent=*/false, GrpcCodeOfTransport(error.code()), error.message(), {});
}

void GrpcCall::BeginAccess(AccessLog* log) {
  if (!log->Takes()) return;
  access_ = std::make_unique<AccessEntry>();
  access_->protocol = "gRPC";
  access_->peer = connection().address();
  access_->path = std::string(header(":path").substr(0, AccessLog::kLongestText));
  access_->start = loop()->Now();
}

void GrpcCall::EndAccess(GrpcCode code) {
  access_->status = GrpcCodeName(code);
  access_->bytes_in = received_;
  environment().executors.access_log->Write(*std::exchange(access_, nullptr));
}

bool GrpcCall::ReadHead() {
  LogCall(*stream());
  if (AccessLog* const log = environment().executors.access_log) BeginAccess(log);
  const auto refuse = [this](const absl::Status& error) {
    SendStatus(GrpcCodeOfTransport(error.code()), error.message());
    return false;
  };
  const absl::StatusOr<MessageCoding> coding = ParseMessageCoding(header("grpc-encoding"));
  if (!coding.ok()) return refuse(coding.status());
  coding_ = *coding;
  const absl::StatusOr<std::optional<Duration>> timeout = ParseTimeout(header("grpc-timeout"));
  if (!timeout.ok()) return refuse(timeout.status());
  if (timeout->has_value()) {
    loop()->StartTimer(this, loop()->Now() + **timeout);
  }
  if (messages_ == Messages::kMany) {
    absl::StatusOr<BudgetUnits> units = environment().server->in_flight_bytes()->TakeFor(
        holder(), kRequestCost, ShareUse::kAdmission);
    if (!units.ok()) return refuse(units.status());
    call_units_ = *std::move(units);
  }
  OnBegin();
  return true;
}

void GrpcCall::OnData(absl::string_view bytes) {
  unconsumed_ += bytes.size();
  received_ += bytes.size();
  const std::shared_ptr<GrpcCall> keep = shared_from_this();
  if (!ended_) {
    if (unread_.empty()) bytes.remove_prefix(Read(bytes));
    if (!bytes.empty() && !ended_) KeepUnread(bytes);
  }
  LetSend();
}

http2::DataPlace GrpcCall::PlaceForData() {
  const std::shared_ptr<ReceivedBody>& body = reader_.body();
  // What is not read yet comes before the bytes that are received next.
  if (ended_ || body == nullptr || !unread_.empty()) return {};
  return {absl::MakeSpan(body->mutable_end(), body->room()), body};
}

size_t GrpcCall::Read(absl::string_view bytes) {
  const auto receive = [this](ReceivedMessageBytes received) {
    Receive(std::move(received));
    return MayReadNow();
  };
  size_t unread = bytes.size();
  in_read_ = true;
  while (unread > 0 && MayReadNow()) {
    const absl::string_view rest = bytes.substr(bytes.size() - unread);
    if (const absl::Status read = reader_.Append(rest, receive, &unread); !read.ok()) Fail(read);
  }
  in_read_ = false;
  return bytes.size() - unread;
}

void GrpcCall::KeepUnread(absl::string_view bytes) {
  absl::StatusOr<BudgetUnits> units = environment().server->in_flight_bytes()->TakeFor(
      holder(), bytes.size(), ShareUse::kAdmission);
  if (!units.ok()) return Fail(units.status());
  unread_units_.Add(*std::move(units));
  unread_.append(bytes.data(), bytes.size());
}

void GrpcCall::ReadOn() {
  if (in_read_) return;  // the call under way goes on
  if (!unread_.empty()) unread_begin_ += Read(absl::string_view(unread_).substr(unread_begin_));
  LetSend();
  if (input_ended_ && unread_.empty() && large_message_ == nullptr) EndInput();
}

void GrpcCall::LetSend() {
  // What was read of it stays until all is read: it is not copied for each message.
  if (ended_ || unread_begin_ == unread_.size()) {
    std::string().swap(unread_);
    unread_begin_ = 0;
    unread_units_.Return();
  }
  if (ended_ || (unread_.empty() && MayReadNow())) stream()->Consume(std::exchange(unconsumed_, 0));
}

void GrpcCall::Receive(ReceivedMessageBytes received) {
  if (ended_) return;
  has_message_ = true;
  reading_pace_.End();
  if (messages_ == Messages::kOne && received.bytes != nullptr) {
    call_units_.Add(received.bytes->TakeUnits(kRequestCost));
  }
  if (!received.refused.ok()) {
    return OnRefused(received.compressed ? nullptr : std::move(received.bytes), received.refused);
  }
  message_was_compressed_ = received.compressed;
  awaits_until_.reset();
  if (!received.compressed) return OnMessage(std::move(received.bytes));
  Decompress(std::move(received.bytes));
}

void GrpcCall::Decompress(std::shared_ptr<ReceivedBody> compressed) {
  const bool begins_here = compressed->size() <= kMostInlineCompressedBytes;
  auto decompression = std::make_unique<MessageDecompression>(
      coding_, std::move(compressed), origin_.limit, environment().server->in_flight_bytes());
  absl::StatusOr<bool> done = false;
  if (begins_here) done = decompression->Run(kMostInlinePlainBytes);
  if (!done.ok()) return Fail(done.status());
  if (*done) return OnMessage(decompression->Finish());
  DecompressElsewhere(std::move(decompression));
}

void GrpcCall::DecompressElsewhere(std::unique_ptr<MessageDecompression> begun) {
  // Shared, because a function object must be copyable.
  const std::shared_ptr<MessageDecompression> decompression = std::move(begun);
  const auto plain =
      std::make_shared<absl::StatusOr<std::shared_ptr<ReceivedBody>>>(OutOfMemoryForMessage());
  const auto work = [decompression, plain](const std::atomic<bool>& cancelled) {
    absl::StatusOr<bool> done = false;
    while (done.ok() && !*done && !cancelled.load(std::memory_order_relaxed)) {
      done = decompression->Run(decompression->filled() + kPlainBytesPerStep);
    }
    if (!done.ok()) {
      *plain = done.status();
    } else if (*done) {
      *plain = decompression->Finish();
    }
  };
  const auto finish = [this, plain] {
    if (ended_) return;
    if (plain->ok()) return OnMessage(*std::move(*plain));
    Fail(plain->status());
  };
  if (RunElsewhere(work, finish)) return;
  OnRefused(nullptr, absl::UnavailableError(
                         "too many large compressed messages at a time: try again later"));
}

bool GrpcCall::RunElsewhere(LargeMessage::Work work, std::function<void()> finish) {
  large_message_ =
      std::make_shared<LargeMessage>(shared_from_this(), std::move(work), std::move(finish));
  if (large_message_->TryRun(environment().executors.compression)) return true;
  large_message_.reset();
  return false;
}

bool GrpcCall::AwaitModel(const absl::Status& error, std::function<void()> finish) {
  const Server& server = *environment().server;
  if (!absl::IsUnavailable(error) || server.load_wait() == Duration(0)) return false;
  if (!awaits_until_.has_value()) awaits_until_ = server.clock()->Now() + server.load_wait();
  const auto waiting =
      std::make_shared<LargeMessage>(shared_from_this(), nullptr, std::move(finish));
  large_message_ = waiting;
  const auto resume = [weak = std::weak_ptr<LargeMessage>(waiting)] {
    if (const auto message = weak.lock()) message->Return();
  };
  if (server.AwaitModel(error, *awaits_until_, resume)) return true;
  large_message_.reset();
  return false;
}

void GrpcCall::Resume(LargeMessage* message) {
  // Null if the call has ended meanwhile.
  if (large_message_.get() == message) large_message_.reset();
  message->Finish();
  if (!ended_) ReadOn();
}

void GrpcCall::DropLargeMessage() {
  if (large_message_ == nullptr) return;
  large_message_->Cancel();
  large_message_.reset();
}

void GrpcCall::Fail(const absl::Status& error) {
  if (ended_) return;
  // First the status: what is cancelled may answer at once.
  SendStatus(GrpcCodeOfTransport(error.code()), error.message());
  OnCancelled();
}

void GrpcCall::OnEndOfInput() {
  input_ended_ = true;
  if (unread_.empty() && large_message_ == nullptr) EndInput();
}

void GrpcCall::EndInput() {
  input_ended_ = false;
  if (ended_) return;
  if (!reader_.in_message()) return OnHalfClose();
  Fail(absl::InternalError("the client's stream ended inside a message"));
}

void GrpcCall::OnTimer() {
  const std::shared_ptr<GrpcCall> keep = shared_from_this();
  Fail(absl::DeadlineExceededError("Deadline Exceeded"));
}

void GrpcCall::OnClosed(bool) {
  loop()->StopTimer(this);
  DropLargeMessage();
  call_units_.Return();
  if (access_ != nullptr) EndAccess(GrpcCode::kCancelled);
  if (!std::exchange(ended_, true)) OnCancelled();
  OnStreamClosed();
}

void GrpcCall::OnSweep(TimePoint now) {
  KeepReadingPace(now);
  // Also when the call has ended: its status may be what waits.
  const bool ends = environment().calls.closed();
  if (writing_pace_.Check(now, stream()->windows()) &&
      !(ends && writing_pace_.StalledFor(now, transport::kEndingStall))) {
    return;
  }
  LOG_VERBOSE(1) << AboutRequest() << "resetting a call whose client does not read its answer";
  connection().CountSlowClient();
  stream()->Reset(http2::ErrorCode::kCancel);
}

void GrpcCall::OnAbort() {
  const std::shared_ptr<GrpcCall> keep = shared_from_this();
  Fail(absl::UnavailableError("the server is shutting down, and did not wait for the call's end"));
}

void GrpcCall::KeepReadingPace(TimePoint now) {
  const bool awaits_rest = messages_ == Messages::kOne ? !has_message_ : reader_.in_message();
  // A client that is not allowed to send is not slow.
  if (!awaits_rest || !MayReadNow()) return reading_pace_.End();
  if (!reading_pace_.under_way()) reading_pace_.Begin(now, received_);
  reading_pace_.Moved(now, received_);
  if (now < reading_pace_.deadline()) return;
  connection().CountSlowClient();
  // UNAVAILABLE says what HTTP's 408 does: nothing was carried out, and the client may send the
  // same again. DEADLINE_EXCEEDED would blame the client's own deadline, CANCELLED the client's
  // program; neither is tried again.
  const std::string why =
      reading_pace_.by_rate()
          ? absl::StrCat("fewer than ", environment().min_bytes_per_second, " bytes per second")
          : absl::StrCat("none of it within ",
                         std::chrono::duration<double>(environment().stall_timeout).count(), " s");
  Fail(absl::UnavailableError(absl::StrCat("the client's message arrives too slowly: ", why)));
}

absl::Status GrpcCall::ForwardMetadata(InferRequest* request) const {
  const HeaderForwarding& forwarding = environment().header_forwarding;
  if (!forwarding.active()) return absl::OkStatus();
  for (size_t i = 0; i < stream()->header_count(); ++i) {
    const Header field = stream()->header(i);
    if (!IsMetadata(field.name)) continue;
    std::string bytes;
    const bool decoded =
        absl::EndsWith(field.name, "-bin") && absl::Base64Unescape(field.value, &bytes);
    RETURN_IF_ERROR(forwarding.Forward(field.name, decoded ? bytes : field.value, request));
  }
  return absl::OkStatus();
}

GrpcCall::Metadata* GrpcCall::metadata() {
  if (metadata_ == nullptr) metadata_ = std::make_unique<Metadata>();
  return metadata_.get();
}

void GrpcCall::AddInitialMetadata(absl::string_view name, absl::string_view value) {
  if (!head_sent_) metadata()->initial.emplace_back(name, EncodeField(name, value));
}

void GrpcCall::AddTrailer(absl::string_view name, absl::string_view value) {
  if (!ended_) metadata()->trailing.emplace_back(name, EncodeField(name, value));
}

void GrpcCall::SendHead() {
  if (std::exchange(head_sent_, true)) return;
  Headers headers = {kStatusOk, kContentType, kReadable};
  if (answer_coding_ != MessageCoding::kIdentity) {
    headers.push_back({"grpc-encoding", MessageCodingName(answer_coding_), true});
  }
  if (metadata_ != nullptr) AppendFields(metadata_->initial, &headers);
  stream()->SendHead(headers, /*end=*/false);
}

absl::Status GrpcCall::PayForAnswer(uint64_t bytes) {
  const uint64_t waiting = std::min<uint64_t>(answer_bytes_, stream()->unsent()) + bytes;
  RETURN_IF_ERROR(
      stream()->PayForAnswer(waiting <= kFreeAnswerBytes ? 0 : waiting - kFreeAnswerBytes));
  answer_bytes_ = waiting;
  return absl::OkStatus();
}

void GrpcCall::SendPaid(const OutMessage& message) {
  if (ended_) return;
  if (access_ != nullptr) access_->bytes_out += message.size();
  SendHead();
  message.AppendTo(stream());
  stream()->Flush();
}

void GrpcCall::SendMessage(OutMessage&& message) {
  if (ended_) return;
  if (const absl::Status paid = PayForAnswer(message.own_size()); !paid.ok()) return Fail(paid);
  if (access_ != nullptr) access_->bytes_out += message.size();
  SendHead();
  message.MoveTo(stream());
  stream()->Flush();
}

void GrpcCall::SendStatus(GrpcCode code, absl::string_view message) {
  if (std::exchange(ended_, true)) return;
  if (access_ != nullptr) EndAccess(code);
  DropLargeMessage();
  if (metadata_ == nullptr) return SendEnd(stream(), head_sent_, code, message, {});
  // In one frame with the status it would all be trailers to the client.
  if (!metadata_->initial.empty()) SendHead();
  SendEnd(stream(), head_sent_, code, message, metadata_->trailing);
}

}  // namespace nereid
