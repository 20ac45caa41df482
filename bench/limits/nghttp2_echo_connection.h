// SPDX-License-Identifier: Apache-2.0
// EchoConnection: one HTTP/2 connection of nghttp2_echo. Frames, header compression and flow
// control are nghttp2's; a message is copied once, from the bytes that were received into memory of
// the length that its prefix says, and is sent from there. Nothing is parsed.
//
// Any method is answered, unary or a stream: each message as soon as it has arrived, and
// `grpc-status` 0 when the client has sent its last. A call with a message that is compressed or
// shorter than the tail is reset. Memory is kept for the next message, and not limited. Used by one
// thread.
#ifndef NEREID_BENCH_LIMITS_NGHTTP2_ECHO_CONNECTION_H_
#define NEREID_BENCH_LIMITS_NGHTTP2_ECHO_CONNECTION_H_

#include <absl/strings/string_view.h>
#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/output_queue.h"
#include "bench/limits/echo_options.h"

namespace nereid::bench {

class EchoConnection {
 public:
  // Takes `fd`, a connected socket, and closes it. `options` must outlive the connection.
  EchoConnection(int fd, const EchoOptions* options);
  ~EchoConnection();
  EchoConnection(const EchoConnection&) = delete;
  EchoConnection& operator=(const EchoConnection&) = delete;

  int fd() const { return fd_; }
  // Reads once and answers what has arrived. False if the connection has to be closed.
  bool Read();
  // Writes as much as flow control and the socket allow. False if the connection has to be closed.
  bool Flush();
  // True if the socket did not accept everything in the last Flush.
  bool blocked() const { return !output_.empty(); }

 private:
  struct Callbacks;  // what nghttp2 calls

  struct Buffer {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  // Bytes to be sent: one message or several, with their prefixes.
  struct Answer {
    Buffer buffer;
    size_t begin = 0;
    size_t end = 0;
  };
  struct Call {
    int32_t stream = 0;
    std::array<char, kGrpcPrefixBytes> prefix;  // of the message that arrives
    size_t prefix_bytes = 0;
    size_t length = 0;  // of that message
    size_t filled = 0;
    Buffer message;
    std::vector<Answer> answers;
    size_t unsent = 0;      // bytes of them
    bool begun = false;     // the answer's headers are submitted
    bool deferred = false;  // nghttp2 waits for more to send
    bool ended = false;     // the client has sent its last message
    bool refused = false;   // reset, so the rest is ignored
  };
  // Memory in the output queue, free when so many bytes are written.
  struct Sent {
    Buffer buffer;
    uint64_t until;
  };

  Call* Begin(int32_t stream);
  void End(Call* call);
  void Receive(Call* call, absl::string_view bytes);
  // The prefix has arrived.
  void BeginMessage(Call* call);
  void EndMessage(Call* call);
  // The answer to a whole message, which is at room() in `message`.
  Answer Single(Buffer message, size_t length) const;
  Answer Several(const Buffer& message, size_t length);
  // There is more to send, or the end.
  void Resume(Call* call);
  void Send(Call* call, size_t size);
  // Memory before a message, for what is sent before its tail.
  size_t room() const { return kGrpcPrefixBytes + options_->head.size(); }
  // Writes the prefix and the head of an answer with a tail of this size.
  void WriteHead(size_t tail_bytes, char* to) const;
  Buffer Take(size_t size);
  void Retire(Buffer buffer);

  const int fd_;
  const EchoOptions* const options_;
  nghttp2_session* session_ = nullptr;
  OutputQueue output_;
  std::unique_ptr<uint8_t[]> input_;
  std::vector<std::unique_ptr<Call>> calls_;  // open ones and idle ones
  std::vector<Call*> idle_calls_;
  std::vector<Buffer> idle_buffers_;
  std::deque<Sent> sent_;
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LIMITS_NGHTTP2_ECHO_CONNECTION_H_
