// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/output_queue.h"

#include <array>
#include <utility>

#include "apps/loadgen/sockets.h"
#include "base/status_macros.h"

namespace nereid::bench {

void OutputQueue::Append(absl::string_view bytes) {
  if (bytes.empty()) return;
  queued_ += bytes.size();
  if (pieces_.empty() || !pieces_.back().lasting.empty()) {
    pieces_.emplace_back();
    pieces_.back().copied = std::exchange(spare_, {});
  }
  pieces_.back().copied.append(bytes.data(), bytes.size());
}

void OutputQueue::AppendLasting(absl::string_view bytes) {
  if (bytes.size() <= kCopiedBytes) return Append(bytes);
  queued_ += bytes.size();
  pieces_.emplace_back();
  pieces_.back().lasting = bytes;
}

absl::Status OutputQueue::WriteWith(Write write) {
  while (!pieces_.empty()) {
    std::array<iovec, 64> parts;
    size_t count = 0;
    for (const Piece& piece : pieces_) {
      if (count == parts.size()) break;
      absl::string_view bytes = piece.bytes();
      if (count == 0) bytes.remove_prefix(sent_);
      parts[count++] = {const_cast<char*>(bytes.data()), bytes.size()};
    }
    ASSIGN_OR_RETURN(const size_t written, write({parts.data(), count}));
    if (written == 0) break;
    Consume(written);
  }
  return absl::OkStatus();
}

absl::Status OutputQueue::WriteTo(int fd) {
  return WriteWith([fd](absl::Span<const iovec> pieces) { return SendTo(fd, pieces); });
}

void OutputQueue::Consume(size_t written) {
  written_ += written;
  written += sent_;
  while (!pieces_.empty() && written >= pieces_.front().bytes().size()) {
    Piece& done = pieces_.front();
    written -= done.bytes().size();
    if (done.lasting.empty()) {
      spare_ = std::move(done.copied);
      spare_.clear();
    }
    pieces_.pop_front();
  }
  sent_ = written;
}

}  // namespace nereid::bench
