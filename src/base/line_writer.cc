// SPDX-License-Identifier: Apache-2.0
#include "base/line_writer.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace nereid {
namespace {

// How often a writer that waits for a reader looks whether it should go on waiting.
constexpr int kLookEveryMs = 50;

}  // namespace

Output::File::~File() {
  if (owned && fd >= 0) close(fd);
}

Output Output::Borrow(int fd) {
  Output output;
  output.file_->fd = fd;
  return output;
}

Output Output::Append(const std::string& file) {
  Output output;
  output.file_->owned = true;
  int& fd = output.file_->fd;
  struct stat present;
  if (stat(file.c_str(), &present) == 0 && S_ISFIFO(present.st_mode)) {
    // Opened for writing alone, a pipe would hold the caller up until there is a reader.
    fd = open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 || errno != EACCES) return output;
  }
  fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return output;
}

Output Output::Duplicate(int fd) {
  Output output;
  output.file_->owned = true;
  output.file_->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return output;
}

bool Output::IsSameFile(const Output& other) const {
  struct stat mine;
  struct stat others;
  return fstat(file_->fd, &mine) == 0 && fstat(other.file_->fd, &others) == 0 &&
         mine.st_dev == others.st_dev && mine.st_ino == others.st_ino;
}

void Output::Look() {
  struct stat now;
  if (fstat(file_->fd, &now) != 0) {
    kind_ = Kind::kUnknown;
    return;
  }
  if (kind_ != Kind::kUnknown && now.st_dev == device_ && now.st_ino == inode_) return;
  device_ = now.st_dev;
  inode_ = now.st_ino;
  terminal_ = nullptr;
  kind_ = S_ISFIFO(now.st_mode) ? Kind::kPipe : S_ISSOCK(now.st_mode) ? Kind::kSocket : Kind::kFile;
  if (!S_ISCHR(now.st_mode) || isatty(file_->fd) == 0) return;
  // O_NONBLOCK belongs to the open file, which other processes may share, so a second one is
  // opened.
  auto terminal = std::make_shared<File>();
  terminal->owned = true;
  terminal->fd = open(absl::StrCat("/proc/self/fd/", file_->fd).c_str(),
                      O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (terminal->fd < 0) return;
  terminal_ = std::move(terminal);
  kind_ = Kind::kTerminal;
}

size_t Output::WholeBytes() {
  Look();
  return kind_ == Kind::kFile ? std::numeric_limits<size_t>::max() : PIPE_BUF;
}

ssize_t Output::Try(absl::string_view text) {
  switch (kind_) {
    case Kind::kPipe: {
      const iovec whole = {const_cast<char*>(text.data()), text.size()};
      const ssize_t n = pwritev2(file_->fd, &whole, 1, -1, RWF_NOWAIT);
      if (n >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)) return n;
      kind_ = Kind::kPolledPipe;  // an old kernel
      return Try(text);
    }
    case Kind::kPolledPipe: {
      // Blocks only if another process fills the pipe between the two calls.
      pollfd room = {file_->fd, POLLOUT, 0};
      if (poll(&room, 1, 0) == 1) {
        return write(file_->fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
      }
      errno = EAGAIN;
      return -1;
    }
    case Kind::kSocket:
      return send(file_->fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::kTerminal:
      return write(terminal_->fd, text.data(), text.size());
    case Kind::kFile:
    case Kind::kUnknown:
      break;
  }
  return write(file_->fd, text.data(), text.size());
}

bool Output::Write(absl::string_view text, absl::FunctionRef<bool()> keep_waiting) {
  if (text.empty()) return true;
  Look();
  while (!text.empty()) {
    const ssize_t n = Try(text);
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || errno != EAGAIN || !keep_waiting()) return false;
    pollfd room = {file_->fd, POLLOUT, 0};
    poll(&room, 1, kLookEveryMs);
  }
  return true;
}

}  // namespace nereid
