// HttpBodyStream: the body of a response that is sent while it is still being made. Producers
// append pieces on any thread, a connection takes and sends them. Thread-safe.
//
// What waits to be sent is bounded: a producer that waits for room after each piece is held back
// while the client reads slowly, and goes on when it reads again or leaves.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_BODY_STREAM_H_
#define NEREID_FRONTENDS_HTTP_HTTP_BODY_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace nereid {

class HttpBodyStream {
 public:
  struct Piece {
    std::string text;
    std::shared_ptr<const void> owner;  // kept until the piece is sent; may be null
  };
  struct Taken {
    std::vector<Piece> pieces;  // none is empty
    bool ended = false;         // nothing follows them
  };
  // Who takes the pieces.
  class Reader {
   public:
    virtual ~Reader() = default;
    // There is something to take, or the end, after a Take that found neither. Any thread; must
    // not block.
    virtual void OnBodyPieces() = 0;
  };

  explicit HttpBodyStream(uint64_t max_waiting_bytes) : max_waiting_bytes_(max_waiting_bytes) {}
  HttpBodyStream(const HttpBodyStream&) = delete;
  HttpBodyStream& operator=(const HttpBodyStream&) = delete;

  // ---- Producers.
  // The next piece, sent as soon as the client takes it. Dropped when nobody takes it any more.
  void Append(Piece piece) ABSL_LOCKS_EXCLUDED(mu_);
  // Nothing more follows.
  void End() ABSL_LOCKS_EXCLUDED(mu_);
  // Nobody takes anything any more: no need to make it.
  bool aborted() const ABSL_LOCKS_EXCLUDED(mu_);
  // Holds the calling thread, unless it is an I/O thread, while more waits than may.
  void AwaitRoom() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The reader.
  // `reader` is kept until Abort: while it waits for more, nothing else may keep it.
  void Attach(std::shared_ptr<Reader> reader) ABSL_LOCKS_EXCLUDED(mu_);
  // What is there, up to some hundred kilobytes. The pieces taken before are sent.
  Taken Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Nobody takes anything any more; producers that have not ended go on and are not heard.
  void Abort() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // The reader that is to be told of news; null when it is not waiting for any.
  std::shared_ptr<Reader> ReaderToWake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t max_waiting_bytes_;
  mutable Mutex mu_;
  CondVar room_;
  int held_back_ ABSL_GUARDED_BY(mu_) = 0;
  std::shared_ptr<Reader> reader_ ABSL_GUARDED_BY(mu_);
  bool reader_waits_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Piece> pieces_ ABSL_GUARDED_BY(mu_);    // not taken yet
  uint64_t taken_bytes_ ABSL_GUARDED_BY(mu_) = 0;    // of the last Take
  uint64_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // of all pieces that are not sent
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool aborted_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_BODY_STREAM_H_
