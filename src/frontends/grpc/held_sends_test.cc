#include "frontends/grpc/held_sends.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace nereid {
namespace {

// Two ends of a loopback connection.
class HeldSendsTest : public ::testing::Test {
 protected:
  HeldSendsTest() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener, any, size), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(getsockname(listener, any, &size), 0);
    sender_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(sender_, any, size), 0);
    receiver_ = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~HeldSendsTest() override {
    close(sender_);
    close(receiver_);
  }

  void Send(char byte) {
    iovec piece{&byte, 1};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    // This program's own sendmsg, as in the server.
    EXPECT_EQ(sendmsg(sender_, &message, 0), 1);
  }
  // What has arrived; loopback delivers within the sender's call.
  std::string Arrived() {
    char bytes[64];
    const ssize_t count = recv(receiver_, bytes, sizeof(bytes), MSG_DONTWAIT);
    return count < 0 ? "" : std::string(bytes, static_cast<size_t>(count));
  }

  int sender_;
  int receiver_;
};

TEST_F(HeldSendsTest, SendsAtOnceWithoutOne) {
  Send('a');
  EXPECT_EQ(Arrived(), "a");
}

TEST_F(HeldSendsTest, HoldsUntilItIsDestroyed) {
  {
    const HeldSends held;
    Send('a');
    Send('b');
    EXPECT_EQ(Arrived(), "");
  }
  EXPECT_EQ(Arrived(), "ab");
}

TEST_F(HeldSendsTest, EveryFourthTakesTheOthersWithIt) {
  const HeldSends held;
  for (const char byte : {'a', 'b', 'c'}) Send(byte);
  EXPECT_EQ(Arrived(), "");
  Send('d');
  EXPECT_EQ(Arrived(), "abcd");
}

TEST_F(HeldSendsTest, ASocketThatWasClosedMeanwhileIsNoError) {
  errno = 0;
  {
    const HeldSends held;
    Send('a');
    close(sender_);
  }
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(Arrived(), "a");
  sender_ = -1;
}

}  // namespace
}  // namespace nereid
