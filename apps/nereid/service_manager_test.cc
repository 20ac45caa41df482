// SPDX-License-Identifier: Apache-2.0
#include "service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/log.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

// The manager's end: a socket with the given name; '\0' begins an abstract one.
class Manager {
 public:
  explicit Manager(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    const size_t size = offsetof(sockaddr_un, sun_path) + name.size() + (name[0] == '/' ? 1 : 0);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0)
        << std::strerror(errno);
  }
  ~Manager() { close(fd_); }

  // The next message; empty if there is none.
  std::string Receive() const {
    char buffer[1000];
    const ssize_t size = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
    return size < 0 ? std::string() : std::string(buffer, size);
  }

 private:
  const int fd_;
};

class ServiceManagerTest : public testing::Test {
 protected:
  ServiceManagerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "notify_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ServiceManagerTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string folder_;
};

TEST_F(ServiceManagerTest, EachStepIsAMessage) {
  const Manager manager(folder_ + "/notify");
  const ServiceManager service(folder_ + "/notify");
  service.Loading();
  EXPECT_EQ(manager.Receive(), "STATUS=Loading models");
  service.Ready();
  EXPECT_EQ(manager.Receive(), "READY=1\nSTATUS=Serving");
  service.Stopping(std::chrono::seconds(40));
  EXPECT_EQ(manager.Receive(),
            "STOPPING=1\nSTATUS=Finishing requests in flight\nEXTEND_TIMEOUT_USEC=40000000");
}

TEST_F(ServiceManagerTest, AnAbstractNameBeginsWithAnAtSign) {
  const Manager manager('\0' + folder_);
  ServiceManager('@' + folder_).Ready();
  EXPECT_THAT(manager.Receive(), HasSubstr("READY=1"));
}

TEST_F(ServiceManagerTest, WithoutAManagerNothingIsSaid) {
  testing::internal::CaptureStderr();
  ServiceManager("").Ready();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ServiceManagerTest, WhatCannotBeSentIsAWarning) {
  const std::string nobody = folder_ + "/nobody";
  for (const auto& [socket, why] : {std::pair{nobody, "No such file or directory"},
                                    {std::string("notify"), "absolute path, or begin with '@'"},
                                    {std::string(200, '/'), "longer than 107 bytes"}}) {
    testing::internal::CaptureStderr();
    ServiceManager(socket).Ready();
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_THAT(log, HasSubstr("NOTIFY_SOCKET is '" + socket + "'"));
    EXPECT_THAT(log, HasSubstr(why));
  }
}

}  // namespace
}  // namespace nereid
