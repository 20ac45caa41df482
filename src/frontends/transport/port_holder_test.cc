// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/port_holder.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "filesystem/temp_directory.h"

namespace nereid::transport {
namespace {

namespace fs = std::filesystem;
using boost::asio::ip::make_address;
using boost::asio::ip::tcp;

constexpr char kListens[] = "0A";
constexpr char kEstablished[] = "01";

tcp::endpoint At(const char* address) { return {make_address(address), 8000}; }

// A folder like /proc with what a test writes there.
class PortHolderTest : public ::testing::Test {
 protected:
  PortHolderTest() : folder_(TempDirectory::Make().value()), proc_(folder_->path()) {
    fs::create_directories(proc_ / "net");
    Write("net/tcp",
          "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n");
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(proc_ / name, std::ios::app) << text;
  }
  // `local`: the words of the address, a colon and the port, as the kernel writes them.
  void AddSocket(const std::string& list, const std::string& local, const char* state, int inode) {
    Write("net/" + list, absl::StrCat("   0: ", local, " 00000000:0000 ", state,
                                      " 00000000:00000000 00:00000000 00000000  1000        0 ",
                                      inode, " 1 0000000000000000 100 0 0 10 0\n"));
  }
  void AddProcess(int pid, const std::string& command, int inode) {
    const fs::path process = proc_ / std::to_string(pid);
    fs::create_directories(process / "fd");
    fs::create_symlink("/dev/null", process / "fd" / "0");
    fs::create_symlink(absl::StrCat("socket:[", inode, "]"), process / "fd" / "7");
    Write(absl::StrCat(pid, "/comm"), command + "\n");
  }
  // Process and user of the holder.
  std::string Find(const char* address) {
    const auto holder = FindPortHolder(At(address), proc_);
    if (!holder.has_value()) return "nobody";
    return absl::StrCat(holder->pid, " ", holder->command, " ", holder->user);
  }

  const std::unique_ptr<TempDirectory> folder_;
  const fs::path proc_;
};

TEST_F(PortHolderTest, FindsTheProcessOfASocket) {
  AddSocket("tcp", "0100007F:1F40", kListens, 55);
  AddProcess(300, "other", 56);
  AddProcess(200, "some server", 55);
  EXPECT_EQ(Find("127.0.0.1"), "200 some server 1000");
  EXPECT_EQ(Find("0.0.0.0"), "200 some server 1000");
  EXPECT_EQ(Find("::"), "200 some server 1000");
}

TEST_F(PortHolderTest, OtherAddressesAndPortsAreNotInTheWay) {
  AddSocket("tcp", "0100007F:1F41", kListens, 55);
  AddSocket("tcp", "0200007F:1F40", kListens, 55);
  AddSocket("tcp6", "00000000000000000000000001000000:1F40", kListens, 55);
  AddProcess(200, "server", 55);
  EXPECT_EQ(Find("127.0.0.1"), "nobody");
}

TEST_F(PortHolderTest, AllAddressesAreInTheWayOfEachOther) {
  AddSocket("tcp6", "00000000000000000000000000000000:1F40", kListens, 55);
  AddProcess(200, "server", 55);
  EXPECT_EQ(Find("127.0.0.1"), "200 server 1000");
  EXPECT_EQ(Find("::1"), "200 server 1000");
}

TEST_F(PortHolderTest, AllOfIpv4AreNotInTheWayOfIpv6) {
  AddSocket("tcp", "00000000:1F40", kListens, 55);
  AddProcess(200, "server", 55);
  EXPECT_EQ(Find("127.0.0.2"), "200 server 1000");
  EXPECT_EQ(Find("::1"), "nobody");
}

TEST_F(PortHolderTest, PrefersWhatListens) {
  AddSocket("tcp", "0100007F:1F40", kEstablished, 54);
  AddSocket("tcp6", "00000000000000000000000000000000:1F40", kListens, 55);
  AddProcess(100, "client", 54);
  AddProcess(200, "server", 55);
  EXPECT_EQ(Find("127.0.0.1"), "200 server 1000");
}

TEST_F(PortHolderTest, ConnectionsHoldPortsToo) {
  AddSocket("tcp", "0100007F:1F40", kEstablished, 54);
  AddProcess(100, "client", 54);
  EXPECT_EQ(Find("127.0.0.1"), "100 client 1000");
}

TEST_F(PortHolderTest, OfParentAndChildTheFirst) {
  AddSocket("tcp", "0100007F:1F40", kListens, 55);
  for (const int pid : {300, 200, 400}) AddProcess(pid, absl::StrCat("p", pid), 55);
  EXPECT_EQ(Find("127.0.0.1"), "200 p200 1000");
}

TEST_F(PortHolderTest, SocketWithoutAProcess) {
  AddSocket("tcp", "0100007F:1F40", kListens, 55);
  EXPECT_EQ(Find("127.0.0.1"), "0  1000");
  AddSocket("tcp", "0100007F:1F40", "06", 0);  // a connection in its last minute
  EXPECT_EQ(Find("127.0.0.1"), "0  1000");
}

TEST_F(PortHolderTest, WithoutProc) {
  EXPECT_FALSE(FindPortHolder(At("127.0.0.1"), proc_ / "missing").has_value());
}

TEST(HolderText, SaysWhatIsKnown) {
  EXPECT_EQ(HolderText(At("127.0.0.1"), PortHolder{12, "nginx", "0"}), "by process 12 (nginx)");
  EXPECT_EQ(HolderText(At("127.0.0.1"), PortHolder{0, "", "1000"}),
            "by a process of the user with the number 1000, which that user and root see with "
            "`ss -tanp 'sport = :8000'`");
  EXPECT_EQ(HolderText(At("127.0.0.1"), std::nullopt),
            "by a process that does not listen yet or is not shown here; once it listens, root "
            "sees it with `ss -tanp 'sport = :8000'`");
}

}  // namespace
}  // namespace nereid::transport
