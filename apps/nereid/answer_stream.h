// SPDX-License-Identifier: Apache-2.0
// AnswerStream: reserves standard output for answers. Everything else that the process writes
// there, such as the log and messages of libraries, goes to standard error from then on. One per
// process; owned by the main thread.
#ifndef NEREID_APPS_NEREID_ANSWER_STREAM_H_
#define NEREID_APPS_NEREID_ANSWER_STREAM_H_

#include <array>
#include <ostream>
#include <streambuf>

namespace nereid {

class AnswerStream {
 public:
  // If no descriptors can be had, everything goes to standard output as before.
  AnswerStream();
  ~AnswerStream();
  AnswerStream(const AnswerStream&) = delete;
  AnswerStream& operator=(const AnswerStream&) = delete;

  std::ostream& stream() { return stream_; }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(int fd) : fd_(fd) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
    int sync() override;
    int_type overflow(int_type next) override;

   private:
    const int fd_;
    std::array<char, 4096> bytes_;
  };

  const int answers_;  // the standard output that the process was started with
  Buffer buffer_;
  std::ostream stream_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_ANSWER_STREAM_H_
