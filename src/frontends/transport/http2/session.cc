// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/session.h"

#include <absl/strings/str_cat.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "frontends/transport/http2/session_callbacks.h"

namespace nereid::http2 {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 40;
// Bytes of headers that a request may have besides those that are kept. They cost no memory, but a
// client can make one byte stand for 4,000, which the library looks at one by one.
constexpr size_t kMostIgnoredBytes = 1 << 20;
// Answers to requests without memory that may wait for the client.
constexpr int kMostRefusals = 16;

}  // namespace

Session::Session(const SessionOptions& options, SessionEvents* events)
    : events_(events), options_(options), account_(options.budget) {
  nghttp2_option* library = nullptr;
  nghttp2_option_new(&library);
  nghttp2_option_set_no_auto_window_update(library, 1);
  // It would keep as many closed streams as may be open; `finished_` does with less.
  nghttp2_option_set_no_closed_streams(library, 1);
  // Clients of gRPC may send such metadata; the blanks are dropped, as HTTP/1.1 does.
  nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(library, 1);
  // How often a client may reset streams is the events' decision, not the library's.
  nghttp2_option_set_stream_reset_rate_limit(library, kNoLimit, kNoLimit);
  nghttp2_session_server_new2(&session_, SessionCallbacks(), this, library);
  nghttp2_option_del(library);
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, options.max_frame_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, options.max_header_bytes},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(options.connection_window));
}

Session::~Session() {
  CloseStreams();
  nghttp2_session_del(session_);
}

absl::Status Session::Receive(absl::string_view bytes) {
  if (closed_) return absl::FailedPreconditionError("the session is closed");
  const ssize_t read = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  events_->OnOutput();
  if (read >= 0) return absl::OkStatus();
  if (flooded_) return absl::ResourceExhaustedError("too many headers");
  if (read == NGHTTP2_ERR_FLOODED || read == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS) {
    return absl::ResourceExhaustedError(nghttp2_strerror(static_cast<int>(read)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not HTTP/2: ", nghttp2_strerror(static_cast<int>(read))));
}

DataPlace Session::PlaceForData() const {
  if (data_left_ < options_.least_in_place) return {};
  const auto it = streams_.find(data_stream_);
  if (it == streams_.end() || it->second->user_ == nullptr) return {};
  const std::shared_ptr<StreamUser> user = it->second->user_;
  DataPlace place = user->PlaceForData();
  place.room = place.room.subspan(0, data_left_);
  return place;
}

void Session::Fill(OutputQueue* output, size_t enough) {
  output_ = output;
  enough_ = enough;
  while (output->size() < enough && !closed_) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size <= 0) break;
    output->Append(
        absl::string_view(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)));
  }
  output_ = nullptr;
  if (sent_.empty()) return;
  const std::vector<std::shared_ptr<Stream>> sent = std::exchange(sent_, {});
  for (const auto& stream : sent) {
    stream->emptied_ = false;
    const std::shared_ptr<StreamUser> user = stream->user_;
    if (user != nullptr && stream->body_.empty()) user->OnSent();
  }
}

bool Session::ended() const {
  if (closed_) return true;
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

bool Session::HasFinished(int32_t id) const {
  return std::find(finished_.begin(), finished_.end(), id) != finished_.end();
}

std::shared_ptr<Stream> Session::Begin(int32_t id) {
  std::shared_ptr<Stream> stream;
  if (kept_.empty()) {
    stream = std::make_shared<Stream>(this, id);
  } else {
    stream = std::move(kept_.back());
    kept_.pop_back();
    stream->Reuse(this, id);
  }
  streams_[id] = stream;
  Charge(stream.get(), kStreamCost);
  return stream;
}

bool Session::Charge(Stream* stream, uint64_t bytes) {
  if (stream->refused_) return false;
  if (absl::Status taken = account_.Take(bytes); !taken.ok()) {
    no_room_ = std::move(taken);
    stream->refused_ = true;
    return false;
  }
  stream->charged_ += bytes;
  return true;
}

bool Session::MakeRoomInHead(Stream* stream, size_t bytes) {
  if (stream->head_dropped_) return false;
  const size_t needed = stream->header_bytes_.size() + bytes;
  const size_t have = std::max(stream->head_room_, kFreeHeadBytes);
  if (needed <= have) return true;
  const size_t room = std::max(needed, std::min<size_t>(2 * have, options_.max_header_bytes));
  if (!Charge(stream, room - stream->head_room_)) {
    stream->DropHead();
    stream->head_dropped_ = true;
    return false;
  }
  stream->header_bytes_.Reserve(room);
  stream->head_room_ = room;
  return true;
}

void Session::HeadComplete(Stream* stream, bool end) {
  open_head_ = 0;
  if (stream->refused_) return RefuseForRoom(stream);
  if (stream->headers_refused_) return RefuseHead(stream);
  const std::shared_ptr<Stream> kept = stream->shared_from_this();
  std::shared_ptr<StreamUser> user = events_->OnRequest(kept);
  if (kept->closed()) {  // from inside OnRequest
    if (user != nullptr) user->OnClosed(kept->complete_);
    return;
  }
  kept->user_ = user;
  if (user != nullptr && end) user->OnEndOfInput();
}

void Session::RefuseHead(Stream* stream) {
  if (events_->OnHeadTooLarge(stream)) return;
  static constexpr std::array<Header, 1> kTooLarge = {{{":status", "431", true}}};
  stream->SendHead(kTooLarge, /*end=*/true);
}

// A client hears why as long as it takes such answers: nobody pays for them. Otherwise it only
// hears that nothing was carried out, and that it may send the request again.
void Session::RefuseForRoom(Stream* stream) {
  if (stream->head_dropped_ || refusals_ >= kMostRefusals) {
    return stream->Reset(ErrorCode::kRefusedStream);
  }
  ++refusals_;
  stream->counts_as_refusal_ = true;
  if (!events_->OnNoRoom(stream, no_room_)) stream->Reset(ErrorCode::kRefusedStream);
}

int Session::Ignore(Stream* stream, size_t header_bytes) {
  stream->ignored_bytes_ += header_bytes;
  if (stream->ignored_bytes_ <= kMostIgnoredBytes) return 0;
  flooded_ = true;
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

void Session::Closed(int32_t id) {
  if (id == open_head_) open_head_ = 0;
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  std::shared_ptr<Stream> stream = std::move(it->second);
  streams_.erase(it);
  account_.Return(std::exchange(stream->charged_, 0) + std::exchange(stream->answer_charged_, 0));
  if (std::exchange(stream->counts_as_refusal_, false)) --refusals_;
  stream->session_ = nullptr;
  stream->body_.Clear();
  stream->kept_.reset();
  if (stream->complete_) events_->OnRequestAnswered();
  if (std::shared_ptr<StreamUser> user = std::move(stream->user_); user != nullptr) {
    user->OnClosed(stream->complete_);
  }
  if (stream.use_count() == 1 && kept_.size() < options_.kept_streams) {
    if (stream->head_room_ > 0) stream->DropHead();  // nobody pays for its memory any more
    kept_.push_back(std::move(stream));
  }
}

void Session::CloseStreams() {
  closed_ = true;
  while (!streams_.empty()) {
    const int32_t id = streams_.begin()->first;
    nghttp2_session_set_stream_user_data(session_, id, nullptr);
    Closed(id);
  }
}

std::vector<std::shared_ptr<StreamUser>> Session::Users() const {
  std::vector<std::shared_ptr<StreamUser>> users;
  users.reserve(streams_.size());
  for (const auto& [id, stream] : streams_) {
    if (stream->user_ != nullptr) users.push_back(stream->user_);
  }
  return users;
}

void Session::Sweep(TimePoint now) {
  for (const auto& user : Users()) {
    if (!closed_) user->OnSweep(now);
  }
}

void Session::Abort() {
  for (const auto& user : Users()) {
    if (!closed_) user->OnAbort();
  }
}

void Session::SendPing() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  events_->OnOutput();
}

void Session::Announce() {
  if (std::exchange(announced_, true)) return;
  nghttp2_submit_shutdown_notice(session_);
  // The answer to this PING says that the client has seen the notice.
  SendPing();
}

void Session::EndAnnouncement() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  events_->OnOutput();
}

void Session::Terminate(ErrorCode code, absl::string_view debug) {
  nghttp2_submit_goaway(
      session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
      static_cast<uint32_t>(code), reinterpret_cast<const uint8_t*>(debug.data()), debug.size());
  events_->OnOutput();
}

}  // namespace nereid::http2
