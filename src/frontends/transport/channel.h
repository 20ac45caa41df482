// SPDX-License-Identifier: Apache-2.0
// Channel: the bytes of a connection, plain or through TLS. Owns the socket. Never blocks.
// Not thread-safe; used on one loop thread, by the connection that owns it.
#ifndef NEREID_FRONTENDS_TRANSPORT_CHANNEL_H_
#define NEREID_FRONTENDS_TRANSPORT_CHANNEL_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <sys/uio.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <utility>

#include "frontends/transport/socket.h"
#include "frontends/transport/tls_context.h"
#include "frontends/transport/tls_stream.h"

namespace nereid::transport {

class Channel {
 public:
  using Result = IoResult;

  // `context` null: plain bytes. The TLS handshake happens in the first calls of Read or Write.
  Channel(Socket socket, std::shared_ptr<TlsContext> context);
  ~Channel();
  // The channel that was moved from is closed. REQUIRES: nothing waits for the socket.
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) = delete;

  // Sets the socket up for a new connection. False if the client has reset it already.
  bool Prepare();

  // Receives until `space` is full or nothing more is there; fewer bytes than fit mean the latter.
  // The end of the stream may still be there, so wait for the socket level-triggered. kEnd: the
  // peer sends nothing more, but may still read. With TLS, that is only so if the peer has ended
  // TLS; a connection that just closes has failed, because anybody on the way can do that.
  Result Read(absl::Span<char> space);

  // Reads into `space` once there is something, and calls `done(result)`, on the loop's thread and
  // not inside this call. kWouldBlock if TLS has received something, but nothing for the caller.
  // `space` stays valid until then. REQUIRES: `done` keeps the channel alive; no other AsyncRead is
  // under way.
  template <typename Done>
  void AsyncRead(absl::Span<char> space, Done done);

  // Sends the first bytes of `pieces`, as many as the socket takes. The caller comes again with the
  // others, at any address and cut in any way: with TLS, some of them may already be encrypted.
  // kOk with 0 bytes only if `pieces` has no bytes. A full socket that takes a part gives kOk, or
  // kWouldBlock if it takes nothing.
  Result Write(absl::Span<const iovec> pieces);

  // What the last call waits for if it was kWouldBlock. A Read of TLS may have to send something
  // first, and the reverse; then the same call is repeated when that is possible. After any call,
  // WantsWrite means that TLS has something to send, and that Read or Write should be called when
  // the socket is writable.
  bool WantsRead() const { return tls_ == nullptr ? wants_read_ : tls_->wants_read(); }
  bool WantsWrite() const { return tls_ == nullptr ? wants_write_ : tls_->wants_write(); }

  // Whether Read may have something although nothing is in the socket. Then the socket does not
  // become readable, so Read must be called first.
  bool HasBuffered() const { return tls_ != nullptr && tls_->has_buffered(); }

  bool handshake_done() const { return tls_ == nullptr || tls_->handshake_done(); }
  // The protocol chosen in the handshake; empty if none was, and for plain bytes. Valid until
  // Close.
  absl::string_view alpn() const { return tls_ == nullptr ? "" : tls_->alpn(); }

  // Tells the peer that nothing more comes. REQUIRES: all bytes are written, or do not matter.
  void ShutdownWrite();
  // As ShutdownWrite, and throws away what has arrived, up to some MiB, in the memory of `scratch`:
  // a connection that is closed with bytes unread is reset, which may cost the client the answer.
  void CloseAfterAnswer(absl::Span<char> scratch);
  // Without a farewell. Read and Write fail from now on.
  void Close();

  Socket& socket() { return socket_; }
  // Address and port of the client, as "1.2.3.4:5" or "[::1]:5"; empty if it has gone. A system
  // call.
  std::string peer() const;
  // Why Read or Write has failed, for the log.
  std::string error_text() const { return tls_ == nullptr ? error_text_ : tls_->error_text(); }

 private:
  Result ReadPlain(absl::Span<char> space);
  Result WritePlain(absl::Span<const iovec> pieces);
  Result Failed(const char* what, int error);
  Result Received(const boost::system::error_code& error, size_t bytes);

  Socket socket_;
  std::unique_ptr<TlsStream> tls_;  // null: plain
  bool closed_ = false;
  bool wants_read_ = false;  // plain only, as the next two
  bool wants_write_ = false;
  std::string error_text_;
};

template <typename Done>
void Channel::AsyncRead(absl::Span<char> space, Done done) {
  if (tls_ == nullptr) {
    // Saves the system call that a wait for the socket costs.
    socket_.async_read_some(
        boost::asio::buffer(space.data(), space.size()),
        [this, done = std::move(done)](const boost::system::error_code& error,
                                       size_t bytes) mutable { done(Received(error, bytes)); });
    return;
  }
  auto read = [this, space, done = std::move(done)]() mutable { done(Read(space)); };
  // No event tells of bytes that are decrypted already.
  if (HasBuffered()) return boost::asio::post(socket_.get_executor(), std::move(read));
  socket_.async_wait(Socket::wait_read, [read = std::move(read)](
                                            const boost::system::error_code&) mutable { read(); });
}

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_CHANNEL_H_
