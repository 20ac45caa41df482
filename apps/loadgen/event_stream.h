// SPDX-License-Identifier: Apache-2.0
// EventStream: reads the body of an answer that is a stream of server-sent events, in the chunks of
// HTTP/1.1. Keeps nothing but the beginning of one line. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_EVENT_STREAM_H_
#define NEREID_APPS_LOADGEN_EVENT_STREAM_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace nereid::bench {

class EventStream {
 public:
  // The next bytes of the body. DATA_LOSS if they are no chunks, or more than the body has.
  absl::Status Take(absl::string_view bytes);
  // For the next body.
  void Reset();

  bool ended() const { return state_ == State::kEnded; }
  uint64_t events() const { return events_; }  // that have arrived
  // The beginning of the first event `{"error":...}`; empty: there was none.
  const std::string& error() const { return error_; }

 private:
  enum class State : uint8_t { kSize, kData, kDataEnd, kTrailer, kEnded };

  // Takes bytes up to the end of the line; true if `line_` is now whole, without its end.
  bool TakeLine(absl::string_view* bytes);
  absl::Status OnSizeLine();
  absl::Status OnDataEnd();
  void TakeData(absl::string_view data);
  void OnEventLine();

  State state_ = State::kSize;
  uint64_t left_ = 0;  // bytes of the chunk still to come
  std::string line_;   // of the chunks: a size, the end of a chunk, a trailer
  std::string event_;  // the beginning of a line of the events
  uint64_t events_ = 0;
  std::string error_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_EVENT_STREAM_H_
