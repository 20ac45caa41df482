// SPDX-License-Identifier: Apache-2.0
// HttpBodyStream: the body of a response that is sent while it is still being produced. Producers
// append pieces on any thread; a connection takes and sends them. Thread-safe.
//
// While more than a limit waits to be sent, the credit for further responses is withdrawn; it comes
// back when half has been taken, or the client leaves. No call blocks.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_BODY_STREAM_H_
#define NEREID_FRONTENDS_HTTP_HTTP_BODY_STREAM_H_

#include <absl/functional/any_invocable.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "infer/response_credit.h"

namespace nereid {

class HttpBodyStream {
 public:
  struct Piece {
    std::string text;
    std::shared_ptr<const void> owner;  // kept until the piece is sent; may be null
  };
  struct Taken {
    std::vector<Piece> pieces;  // none is empty
    bool ended = false;         // no piece follows
  };
  // The consumer of the pieces.
  class Reader {
   public:
    virtual ~Reader() = default;
    // Called on any thread when, after a Take that found nothing, a piece or the end has arrived.
    // Must not block.
    virtual void OnBodyPieces() = 0;
  };

  // `credit`: of the responses that become pieces; null: there is only one.
  explicit HttpBodyStream(uint64_t max_waiting_bytes,
                          std::shared_ptr<ResponseCredit> credit = nullptr)
      : max_waiting_bytes_(max_waiting_bytes), credit_(std::move(credit)) {}
  HttpBodyStream(const HttpBodyStream&) = delete;
  HttpBodyStream& operator=(const HttpBodyStream&) = delete;

  // `at_end` is called once: when nothing more follows, or when the reader has gone before that;
  // now if that has happened already. `bytes`: of all pieces. Must not block. REQUIRES: called at
  // most once.
  using AtEnd = absl::AnyInvocable<void(uint64_t bytes, bool complete)>;
  void SetAtEnd(AtEnd at_end) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Producers.
  // The next piece, sent as soon as the client takes it. Dropped if the reader has gone.
  void Append(Piece piece) ABSL_LOCKS_EXCLUDED(mu_);
  // Nothing more follows.
  void End() ABSL_LOCKS_EXCLUDED(mu_);
  // Drops the pieces that the reader has not taken: `piece` and the end follow those that it has.
  // After an end: false, and nothing happens.
  bool EndWith(Piece piece) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether the reader has gone, so that producing more is pointless.
  bool aborted() const ABSL_LOCKS_EXCLUDED(mu_);
  // Null if there is only one response.
  const std::shared_ptr<ResponseCredit>& credit() const { return credit_; }

  // ---- The reader.
  // `reader` is kept alive until Abort, because nothing else may do so while it waits for more.
  void Attach(std::shared_ptr<Reader> reader) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes what is available, up to some hundred kilobytes. Implies that the pieces taken before
  // have been sent.
  Taken Take() ABSL_LOCKS_EXCLUDED(mu_);
  // The reader leaves. Producers that have not ended continue, and their pieces are dropped.
  void Abort() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // The reader to be notified; null if it is not waiting.
  std::shared_ptr<Reader> ReaderToWake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Calls `at_end` if there is one.
  static void CallAtEnd(AtEnd at_end, uint64_t bytes, bool complete) {
    if (at_end) at_end(bytes, complete);
  }

  // What waits has grown or become less by this.
  void Charge(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Discharge(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t max_waiting_bytes_;
  const std::shared_ptr<ResponseCredit> credit_;
  mutable Mutex mu_;
  AtEnd at_end_ ABSL_GUARDED_BY(mu_);
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;  // of all pieces so far
  bool without_credit_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<Reader> reader_ ABSL_GUARDED_BY(mu_);
  bool reader_waits_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Piece> pieces_ ABSL_GUARDED_BY(mu_);    // not yet taken
  uint64_t taken_bytes_ ABSL_GUARDED_BY(mu_) = 0;    // in the last Take
  uint64_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // in all pieces not yet sent
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool aborted_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_BODY_STREAM_H_
