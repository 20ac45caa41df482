// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/http_body_stream.h"

#include <utility>

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
    if (aborted_ || ended_) return;
    Charge(piece.text.size());
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

bool HttpBodyStream::EndWith(Piece piece) {
  std::deque<Piece> dropped;  // destroyed after the lock is released
  {
    MutexLock lock(&mu_);
    if (ended_ || aborted_) return false;
    for (const Piece& unsent : pieces_) {
      Discharge(unsent.text.size());
      bytes_ -= unsent.text.size();
    }
    pieces_.swap(dropped);
  }
  Append(std::move(piece));
  End();
  return true;
}

void HttpBodyStream::Charge(uint64_t bytes) {
  waiting_bytes_ += bytes;
  if (credit_ == nullptr) return;
  credit_->account()->fetch_add(bytes, std::memory_order_relaxed);
  if (waiting_bytes_ > max_waiting_bytes_ && !std::exchange(without_credit_, true)) {
    credit_->Withdraw();
  }
}

void HttpBodyStream::Discharge(uint64_t bytes) {
  waiting_bytes_ -= bytes;
  if (credit_ != nullptr) credit_->account()->fetch_sub(bytes, std::memory_order_relaxed);
}

void HttpBodyStream::Attach(std::shared_ptr<Reader> reader) {
  MutexLock lock(&mu_);
  reader_ = std::move(reader);
}

HttpBodyStream::Taken HttpBodyStream::Take() {
  Taken taken;
  ResponseCredit::Woken credited;  // called after the lock is released
  MutexLock lock(&mu_);
  Discharge(std::exchange(taken_bytes_, 0));
  while (!pieces_.empty() && taken.pieces.size() < kMaxTakenPieces &&
         taken_bytes_ < kMaxTakenBytes) {
    taken_bytes_ += pieces_.front().text.size();
    taken.pieces.push_back(std::move(pieces_.front()));
    pieces_.pop_front();
  }
  taken.ended = ended_ && pieces_.empty();
  reader_waits_ = taken.pieces.empty() && !taken.ended;
  // Not before half of the room is free, so that a slow client does not wake a thread per piece.
  if (without_credit_ && waiting_bytes_ <= max_waiting_bytes_ / 2) {
    without_credit_ = false;
    credited = credit_->Give();
  }
  return taken;
}

void HttpBodyStream::Abort() {
  // Destroyed after the lock is released.
  std::shared_ptr<Reader> reader;
  std::deque<Piece> dropped;
  AtEnd at_end;
  ResponseCredit::Woken waived;
  uint64_t bytes = 0;
  {
    MutexLock lock(&mu_);
    aborted_ = true;
    pieces_.swap(dropped);
    Discharge(waiting_bytes_);
    taken_bytes_ = 0;
    reader_.swap(reader);
    reader_waits_ = false;
    std::swap(at_end, at_end_);
    bytes = bytes_;
    if (credit_ != nullptr) waived = credit_->Waive();
  }
  CallAtEnd(std::move(at_end), bytes, /*complete=*/false);
}

std::shared_ptr<HttpBodyStream::Reader> HttpBodyStream::ReaderToWake() {
  if (!std::exchange(reader_waits_, false)) return nullptr;
  return reader_;
}

}  // namespace nereid
