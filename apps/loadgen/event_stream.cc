// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/event_stream.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "apps/loadgen/transport.h"
#include "base/status_macros.h"

namespace nereid::bench {
namespace {

constexpr size_t kMostLineBytes = 4096;  // of what stands between the chunks
constexpr absl::string_view kData = "data:";
constexpr size_t kKeptOfEvent = kMostErrorBytes + kData.size() + 1;

}  // namespace

void EventStream::Reset() {
  state_ = State::kSize;
  line_.clear();
  event_.clear();
  events_ = 0;
  error_.clear();
}

absl::Status EventStream::Take(absl::string_view bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::kSize:
        if (TakeLine(&bytes)) RETURN_IF_ERROR(OnSizeLine());
        break;
      case State::kData: {
        const absl::string_view data = bytes.substr(0, left_);
        TakeData(data);
        left_ -= data.size();
        bytes.remove_prefix(data.size());
        if (left_ == 0) state_ = State::kDataEnd;
        break;
      }
      case State::kDataEnd:
        if (TakeLine(&bytes)) RETURN_IF_ERROR(OnDataEnd());
        break;
      case State::kTrailer:
        if (!TakeLine(&bytes)) break;
        if (line_.empty()) state_ = State::kEnded;
        line_.clear();
        break;
      case State::kEnded:
        return absl::DataLossError("more bytes than the answer has");
    }
    if (line_.size() > kMostLineBytes) return absl::DataLossError("an endless line of a chunk");
  }
  return absl::OkStatus();
}

bool EventStream::TakeLine(absl::string_view* bytes) {
  const size_t end = bytes->find('\n');
  absl::StrAppend(&line_, bytes->substr(0, end));
  if (end == absl::string_view::npos) {
    *bytes = {};
    return false;
  }
  bytes->remove_prefix(end + 1);
  if (absl::EndsWith(line_, "\r")) line_.pop_back();
  return true;
}

absl::Status EventStream::OnSizeLine() {
  // What follows a semicolon is an extension.
  const absl::string_view digits = absl::string_view(line_).substr(0, line_.find(';'));
  if (!absl::SimpleHexAtoi(digits, &left_)) {
    return absl::DataLossError(absl::StrCat("a chunk of the answer has the size '", digits, "'"));
  }
  state_ = left_ == 0 ? State::kTrailer : State::kData;
  line_.clear();
  return absl::OkStatus();
}

absl::Status EventStream::OnDataEnd() {
  if (!line_.empty()) return absl::DataLossError("a chunk of the answer is longer than its size");
  state_ = State::kSize;
  return absl::OkStatus();
}

void EventStream::TakeData(absl::string_view data) {
  while (!data.empty()) {
    const size_t end = data.find('\n');
    const absl::string_view part = data.substr(0, end);
    absl::StrAppend(&event_, part.substr(0, kKeptOfEvent - std::min(kKeptOfEvent, event_.size())));
    if (end == absl::string_view::npos) return;
    data.remove_prefix(end + 1);
    OnEventLine();
    event_.clear();
  }
}

void EventStream::OnEventLine() {
  absl::string_view text = event_;
  if (!absl::ConsumePrefix(&text, kData)) return;  // the empty line after an event, or a comment
  ++events_;
  absl::ConsumePrefix(&text, " ");
  if (error_.empty() && absl::StartsWith(text, "{\"error\":")) {
    error_ = std::string(text.substr(0, kMostErrorBytes));
  }
}

}  // namespace nereid::bench
