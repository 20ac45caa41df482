// SPDX-License-Identifier: Apache-2.0
#include "answer_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace nereid {
namespace {

constexpr int kFirstFree = 3;

int TakeStdout() {
  const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kFirstFree);
  if (answers < 0) return STDOUT_FILENO;
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return answers;
}

}  // namespace

AnswerStream::AnswerStream() : answers_(TakeStdout()), buffer_(answers_), stream_(&buffer_) {}

AnswerStream::~AnswerStream() {
  stream_.flush();
  if (answers_ == STDOUT_FILENO) return;
  dup2(answers_, STDOUT_FILENO);
  close(answers_);
}

int AnswerStream::Buffer::sync() {
  const char* next = pbase();
  while (next < pptr()) {
    const ssize_t written = write(fd_, next, static_cast<size_t>(pptr() - next));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // the reader is gone, for example
    next += written;
  }
  const bool all = next == pptr();
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return all ? 0 : -1;
}

AnswerStream::Buffer::int_type AnswerStream::Buffer::overflow(int_type next) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
  *pptr() = traits_type::to_char_type(next);
  pbump(1);
  return next;
}

}  // namespace nereid
