#include "frontends/http/http_body_stream.h"

#include <utility>

#include "base/io_thread.h"
#include "base/wake_batch.h"

namespace nereid {
namespace {

// Limits of one Take: one vectored write, and no more than a socket's buffer holds.
constexpr size_t kMaxTakenPieces = 128;
constexpr uint64_t kMaxTakenBytes = 512 << 10;

}  // namespace

void HttpBodyStream::Append(Piece piece) {
  if (piece.text.empty()) return;
  std::shared_ptr<Reader> reader;
  {
    MutexLock lock(&mu_);
    if (aborted_) return;
    waiting_bytes_ += piece.text.size();
    bytes_ += piece.text.size();
    pieces_.push_back(std::move(piece));
    reader = ReaderToWake();
  }
  if (reader != nullptr) reader->OnBodyPieces();
}

void HttpBodyStream::SetAtEnd(AtEnd at_end) {
  uint64_t bytes = 0;
  bool complete = false;
  {
    MutexLock lock(&mu_);
    if (!ended_ && !aborted_) {
      at_end_ = std::move(at_end);
      return;
    }
    bytes = bytes_;
    complete = ended_;
  }
  CallAtEnd(std::move(at_end), bytes, complete);
}

void HttpBodyStream::End() {
  std::shared_ptr<Reader> reader;
  AtEnd at_end;
  uint64_t bytes = 0;
  {
    MutexLock lock(&mu_);
    ended_ = true;
    reader = ReaderToWake();
    std::swap(at_end, at_end_);
    bytes = bytes_;
  }
  CallAtEnd(std::move(at_end), bytes, /*complete=*/true);
  if (reader != nullptr) reader->OnBodyPieces();
}

bool HttpBodyStream::aborted() const {
  MutexLock lock(&mu_);
  return aborted_;
}

void HttpBodyStream::AwaitRoom() {
  if (OnIoThread()) return;
  {
    MutexLock lock(&mu_);
    if (waiting_bytes_ <= max_waiting_bytes_) return;
  }
  WakeBatch::Flush();  // the reader may not know yet that there is something
  MutexLock lock(&mu_);
  ++held_back_;
  // Waits until half of the room is free, so that a slow client does not wake a thread per piece.
  while (!aborted_ && waiting_bytes_ > max_waiting_bytes_ / 2) room_.Wait(&mu_);
  --held_back_;
}

void HttpBodyStream::Attach(std::shared_ptr<Reader> reader) {
  MutexLock lock(&mu_);
  reader_ = std::move(reader);
}

HttpBodyStream::Taken HttpBodyStream::Take() {
  Taken taken;
  MutexLock lock(&mu_);
  waiting_bytes_ -= std::exchange(taken_bytes_, 0);
  while (!pieces_.empty() && taken.pieces.size() < kMaxTakenPieces &&
         taken_bytes_ < kMaxTakenBytes) {
    taken_bytes_ += pieces_.front().text.size();
    taken.pieces.push_back(std::move(pieces_.front()));
    pieces_.pop_front();
  }
  taken.ended = ended_ && pieces_.empty();
  reader_waits_ = taken.pieces.empty() && !taken.ended;
  if (held_back_ > 0 && waiting_bytes_ <= max_waiting_bytes_ / 2) room_.NotifyAll();
  return taken;
}

void HttpBodyStream::Abort() {
  // Destroyed after the lock is released.
  std::shared_ptr<Reader> reader;
  std::deque<Piece> dropped;
  AtEnd at_end;
  uint64_t bytes = 0;
  {
    MutexLock lock(&mu_);
    aborted_ = true;
    pieces_.swap(dropped);
    waiting_bytes_ = taken_bytes_ = 0;
    reader_.swap(reader);
    reader_waits_ = false;
    std::swap(at_end, at_end_);
    bytes = bytes_;
    if (held_back_ > 0) room_.NotifyAll();
  }
  CallAtEnd(std::move(at_end), bytes, /*complete=*/false);
}

std::shared_ptr<HttpBodyStream::Reader> HttpBodyStream::ReaderToWake() {
  if (!std::exchange(reader_waits_, false)) return nullptr;
  return reader_;
}

}  // namespace nereid
