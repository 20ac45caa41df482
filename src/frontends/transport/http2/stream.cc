// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/stream.h"

#include <nghttp2/nghttp2.h>

#include <utility>

#include "base/status_macros.h"
#include "frontends/transport/http2/library.h"
#include "frontends/transport/http2/session.h"

namespace nereid::http2 {

absl::string_view Stream::FindHeader(absl::string_view name) const {
  for (size_t i = 0; i < headers_.size(); ++i) {
    if (headers_[i].name_size != name.size()) continue;  // mostly
    const Header one = header(i);
    if (one.name == name) return one.value;
  }
  return {};
}

void Stream::Reuse(Session* session, int32_t id) {
  session_ = session;
  id_ = id;
  header_bytes_.Clear();
  headers_.clear();
  head_room_ = 0;
  charged_ = answer_charged_ = 0;
  headers_refused_ = refused_ = head_dropped_ = counts_as_refusal_ = false;
  ignored_bytes_ = 0;
  trailer_bytes_.clear();
  trailers_.clear();
  sent_ = 0;
  head_sent_ = finishing_ = deferred_ = complete_ = reset_ = false;
}

void Stream::DropHead() {
  header_bytes_.Release();
  headers_.clear();
  headers_.shrink_to_fit();
}

void Stream::Consume(size_t n) {
  if (closed() || n == 0) return;
  nghttp2_session_consume_stream(session_->session_, id_, n);
  session_->events_->OnOutput();
}

void Stream::SendHead(absl::Span<const Header> headers, bool end) {
  if (closed() || head_sent_) return;
  head_sent_ = true;
  const LibraryHeaders library(headers);
  nghttp2_data_provider body{};
  body.read_callback = &ReadBody;
  nghttp2_submit_response(session_->session_, id_, library.data(), library.size(),
                          end ? nullptr : &body);
  session_->events_->OnOutput();
}

void Stream::SendInterimHead(absl::string_view status) {
  if (closed() || head_sent_) return;
  const Header header = {":status", status};
  const LibraryHeaders library({&header, 1});
  nghttp2_submit_headers(session_->session_, NGHTTP2_FLAG_NONE, id_, nullptr, library.data(),
                         library.size(), nullptr);
  session_->events_->OnOutput();
}

void Stream::Append(absl::string_view bytes) {
  if (!closed()) body_.Append(bytes);
}

void Stream::AppendOwned(std::string bytes) {
  if (!closed()) body_.AppendOwned(std::move(bytes));
}

void Stream::AppendShared(absl::string_view bytes, std::shared_ptr<const void> owner) {
  if (!closed()) body_.AppendShared(bytes, std::move(owner));
}

void Stream::Flush() {
  if (closed() || !deferred_) return;
  deferred_ = false;
  nghttp2_session_resume_data(session_->session_, id_);
  session_->events_->OnOutput();
}

void Stream::Finish(absl::Span<const Header> trailers) {
  if (closed() || finishing_) return;
  finishing_ = true;
  for (const Header& trailer : trailers) {
    const auto begin = static_cast<uint32_t>(trailer_bytes_.size());
    trailer_bytes_.append(trailer.name.data(), trailer.name.size());
    trailer_bytes_.append(trailer.value.data(), trailer.value.size());
    const auto name_size = static_cast<uint32_t>(trailer.name.size());
    trailers_.push_back(
        {begin, name_size, begin + name_size, static_cast<uint32_t>(trailer.value.size())});
  }
  Flush();
}

absl::Status Stream::PayForAnswer(uint64_t bytes) {
  if (closed()) return absl::OkStatus();
  transport::Account* const account = session_->account();
  if (bytes > answer_charged_) {
    RETURN_IF_ERROR(account->Take(bytes - answer_charged_, ShareUse::kAnswer));
  } else {
    account->Return(answer_charged_ - bytes);
  }
  answer_charged_ = bytes;
  return absl::OkStatus();
}

WindowState Stream::windows() const {
  // The end of a body waits for a window, too: the library looks at it before it asks for more.
  const bool waits = !body_.empty() || (finishing_ && !complete_);
  if (closed() || reset_ || !waits) return {};
  nghttp2_session* const library = session_->session_;
  return {nghttp2_session_get_stream_remote_window_size(library, id_) <= 0,
          nghttp2_session_get_remote_window_size(library) <= 0, sent_, session_->data_sent_};
}

void Stream::Reset(ErrorCode code) {
  if (closed() || std::exchange(reset_, true)) return;
  nghttp2_submit_rst_stream(session_->session_, NGHTTP2_FLAG_NONE, id_,
                            static_cast<uint32_t>(code));
  session_->events_->OnOutput();
}

}  // namespace nereid::http2
