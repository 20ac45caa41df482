// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/bound_address.h"

#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "filesystem/temp_directory.h"

namespace nereid::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kLoopback[] = "127.0.0.1";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

int NewSocket() { return socket(AF_INET, SOCK_STREAM, 0); }

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

uint16_t PortOf(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

// A port that was free a moment ago.
uint16_t FreePort() {
  const auto bound = BoundAddress::Bind({"HTTP", kLoopback, 0, false, ""});
  EXPECT_TRUE(bound.ok());
  return PortOf(Descriptor((*bound)->Listen().value()).get());
}

// 0 or the code of the error.
int Connect(int fd, uint16_t port) {
  const sockaddr_in to = Loopback(port);
  return connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
}

int BindReusing(int fd, uint16_t port) {
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in to = Loopback(port);
  return bind(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
}

// Leaves a connection at `port` in the state in which a server leaves it that ends first.
void LeaveConnection(uint16_t port) {
  const auto bound = BoundAddress::Bind({"HTTP", kLoopback, port, false, ""});
  ASSERT_TRUE(bound.ok()) << bound.status();
  const Descriptor listening((*bound)->Listen().value());
  const Descriptor client(NewSocket());
  ASSERT_EQ(Connect(client.get(), port), 0);
  close(accept(listening.get(), nullptr, nullptr));
  char byte;
  EXPECT_EQ(read(client.get(), &byte, 1), 0);
}

TEST(BoundAddress, RefusesClientsUntilItListens) {
  const uint16_t port = FreePort();
  const auto bound = BoundAddress::Bind({"HTTP", kLoopback, port, false, ""});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(Connect(Descriptor(NewSocket()).get(), port), ECONNREFUSED);
  const Descriptor listening((*bound)->Listen().value());
  EXPECT_EQ(Connect(Descriptor(NewSocket()).get(), port), 0);
}

TEST(BoundAddress, NobodyElseGetsIt) {
  const uint16_t port = FreePort();
  const AddressToBind where{"HTTP", kLoopback, port, false, "--http-port"};
  const auto bound = BoundAddress::Bind(where);
  ASSERT_TRUE(bound.ok()) << bound.status();
  const auto second = BoundAddress::Bind(where);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(second.status().message(),
            absl::StrCat("Socket '127.0.0.1:", port,
                         "' already in use by a process that does not listen yet or is not shown "
                         "here; once it listens, root sees it with `ss -tanp 'sport = :",
                         port, "'`; --http-port chooses another port"));
  EXPECT_EQ(BindReusing(Descriptor(NewSocket()).get(), port), EADDRINUSE);
}

TEST(BoundAddress, NamesTheProcessThatListens) {
  const uint16_t port = FreePort();
  const auto bound = BoundAddress::Bind({"HTTP", kLoopback, port, false, ""});
  ASSERT_TRUE(bound.ok()) << bound.status();
  const Descriptor listening((*bound)->Listen().value());
  const auto second = BoundAddress::Bind({"HTTP", "0.0.0.0", port, false, "--http-port"});
  EXPECT_THAT(std::string(second.status().message()),
              StartsWith(absl::StrCat("Socket '0.0.0.0:", port, "' already in use by process ",
                                      getpid(), " (")));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("); --http-port chooses another port"));
}

TEST(BoundAddress, IsNoObstacleOnceItIsGone) {
  const uint16_t port = FreePort();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(BoundAddress::Bind({"HTTP", kLoopback, port, false, ""}).ok());
  }
}

TEST(BoundAddress, OldConnectionsAreNoObstacleAndOtherServersAre) {
  const uint16_t port = FreePort();
  LeaveConnection(port);
  const AddressToBind where{"HTTP", kLoopback, port, false, ""};
  const auto bound = BoundAddress::Bind(where);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(BoundAddress::Bind(where).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE((*bound)->Listen().ok());
}

TEST(BoundAddress, IsSharedByThoseWhoAllWantTo) {
  const uint16_t port = FreePort();
  AddressToBind where{"HTTP", kLoopback, port, true, ""};
  const auto first = BoundAddress::Bind(where);
  const auto second = BoundAddress::Bind(where);
  ASSERT_TRUE(first.ok() && second.ok()) << second.status();
  where.reuse_port = false;
  EXPECT_EQ(BoundAddress::Bind(where).status().code(), absl::StatusCode::kUnavailable);
  const Descriptor one((*first)->Listen().value());
  const Descriptor other((*second)->Listen().value());
  EXPECT_EQ(Connect(Descriptor(NewSocket()).get(), port), 0);
}

TEST(BoundAddress, UnknownName) {
  const auto bound = BoundAddress::Bind({"HTTP", "no.such.host.invalid", 0, false, ""});
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bound.status().message()),
              StartsWith("cannot resolve the HTTP address 'no.such.host.invalid': "));
}

TEST(BoundAddress, FileIsTakenOverOnceNobodyListens) {
  const auto folder = TempDirectory::Make().value();
  const std::string path = absl::StrCat(folder->path(), "/socket");
  {
    const auto bound = BoundAddress::BindFile(path);
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_EQ((*bound)->family(), AF_UNIX);
    const Descriptor listening((*bound)->Listen().value());
    const auto second = BoundAddress::BindFile(path);
    EXPECT_EQ(second.status(),
              absl::UnavailableError(absl::StrCat("another server has the socket '", path, "'")));
  }
  EXPECT_TRUE(BoundAddress::BindFile(path).ok());
}

TEST(BoundAddress, FileThatCannotBeMade) {
  EXPECT_EQ(BoundAddress::BindFile("/no/such/folder/socket").status(),
            absl::InternalError("cannot make the socket '/no/such/folder/socket': No such file or "
                                "directory"));
  const std::string longest(200, 'x');
  EXPECT_EQ(BoundAddress::BindFile(longest).status(),
            absl::InternalError(
                absl::StrCat("cannot make the socket '", longest, "': its name is too long")));
}

}  // namespace
}  // namespace nereid::transport
