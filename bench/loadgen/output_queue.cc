#include "bench/loadgen/output_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

#include "bench/loadgen/sockets.h"

namespace nereid::bench {

void OutputQueue::Append(absl::string_view bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || !pieces_.back().lasting.empty()) {
    pieces_.emplace_back();
    pieces_.back().copied = std::exchange(spare_, {});
  }
  pieces_.back().copied.append(bytes.data(), bytes.size());
}

void OutputQueue::AppendLasting(absl::string_view bytes) {
  if (bytes.size() <= kCopiedBytes) return Append(bytes);
  pieces_.emplace_back();
  pieces_.back().lasting = bytes;
}

absl::Status OutputQueue::WriteTo(int fd) {
  while (!pieces_.empty()) {
    std::array<iovec, 64> parts;
    size_t count = 0;
    for (const Piece& piece : pieces_) {
      if (count == parts.size()) break;
      absl::string_view bytes = piece.bytes();
      if (count == 0) bytes.remove_prefix(sent_);
      parts[count++] = {const_cast<char*>(bytes.data()), bytes.size()};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t written = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return absl::OkStatus();
    if (written < 0) return SystemError("send");
    Consume(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

void OutputQueue::Consume(size_t written) {
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
