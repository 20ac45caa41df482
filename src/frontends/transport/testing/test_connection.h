// SPDX-License-Identifier: Apache-2.0
// A Channel, and a TLS client at the other end of its socket, both on the test's thread. For tests;
// thread-compatible.
#ifndef NEREID_FRONTENDS_TRANSPORT_TESTING_TEST_CONNECTION_H_
#define NEREID_FRONTENDS_TRANSPORT_TESTING_TEST_CONNECTION_H_

#include <absl/strings/string_view.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "frontends/transport/channel.h"
#include "frontends/transport/testing/certificates.h"
#include "frontends/transport/testing/tls_client.h"

namespace nereid::transport {

// Two sockets joined without a network, so that what one has sent the other has received. The type
// of the first does not matter to what the transport does with it.
class SocketPair {
 public:
  // `type` SOCK_SEQPACKET: each system call that sends makes one message.
  explicit SocketPair(int type = SOCK_STREAM) : socket_(io_) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, fds), 0);
    socket_.assign(boost::asio::ip::tcp::v4(), fds[0]);
    peer_ = fds[1];
  }
  ~SocketPair() { ClosePeer(); }

  Socket TakeSocket() { return std::move(socket_); }
  boost::asio::io_context& context() { return io_; }
  int peer() const { return peer_; }
  void ClosePeer() {
    if (peer_ >= 0) close(peer_);
    peer_ = -1;
  }

 private:
  boost::asio::io_context io_;
  Socket socket_;
  int peer_ = -1;
};

// Makes the buffers of a socket as small as the system allows.
inline void ShrinkBuffers(int fd) {
  const int size = 1;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

class TestConnection {
 public:
  explicit TestConnection(std::shared_ptr<TlsContext> context,
                          const TlsClient::Options& options = {}, int type = SOCK_STREAM)
      : sockets_(type),
        channel_(sockets_.TakeSocket(), std::move(context)),
        client_(sockets_.peer(), options) {}

  Channel& channel() { return channel_; }
  TlsClient& client() { return client_; }
  SocketPair& sockets() { return sockets_; }

  // Lets both sides talk until the client's handshake and the server's are done, or one has failed.
  // Returns whether they are done.
  bool Handshake() {
    bool client_done = false;
    for (int turn = 0; turn < 20; ++turn) {
      client_done = client_.Handshake();
      const bool open = client_.Pump();
      last_ = channel_.Read({});
      if (client_done && channel_.handshake_done()) return true;
      if (last_.kind == IoResult::kFailed && (client_.failed() || !open)) return false;
    }
    return false;
  }

  // What the server's side receives until there is nothing more.
  std::string ServerReads() {
    std::string all;
    char space[1000];
    while ((last_ = channel_.Read(absl::MakeSpan(space))).kind == IoResult::kOk) {
      all.append(space, last_.bytes);
    }
    return all;
  }
  // How the last read of the server's side ended.
  IoResult::Kind last_kind() const { return last_.kind; }

  // What was sent is received at once, so a text that fits needs one call.
  IoResult ServerWrites(absl::string_view text) {
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    return channel_.Write({&piece, 1});
  }
  std::string ClientReads() {
    client_.Pump();
    return client_.Read();
  }

 private:
  SocketPair sockets_;
  Channel channel_;
  TlsClient client_;
  IoResult last_{IoResult::kOk, 0};
};

inline void WriteFile(const std::string& path, absl::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TESTING_TEST_CONNECTION_H_
