// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <thread>

#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/control_socket.h"
#include "backends/tensorflow/ipc/messages.h"

namespace nereid_tensorflow {
namespace {

TEST(UnpackerTest, StopsAtTheEnd) {
  Packer packer;
  packer.Number<uint32_t>(7);
  packer.Text("text");
  packer.Shape({-1, 3});
  const std::string& bytes = packer.bytes();
  Unpacker whole(bytes);
  EXPECT_EQ(whole.Number<uint32_t>(), 7u);
  EXPECT_EQ(whole.Text(), "text");
  EXPECT_EQ(whole.Shape(), (Dims{-1, 3}));
  EXPECT_TRUE(whole.Done());
  for (size_t size = 0; size < bytes.size(); ++size) {
    Unpacker part(std::string_view(bytes).substr(0, size));
    part.Number<uint32_t>();
    part.Text();
    part.Shape();
    EXPECT_FALSE(part.Done()) << size;
  }
}

TEST(UnpackerTest, AWrongCountAllocatesNothing) {
  Packer packer;
  packer.Number(~uint64_t{0} / 8);
  Unpacker unpacker(packer.bytes());
  EXPECT_TRUE(unpacker.Shape().empty());
  EXPECT_FALSE(unpacker.ok());
}

TEST(MessagesTest, ComeBackAsTheyWere) {
  LoadRequest request;
  request.format = ModelFormat::kGraphDef;
  request.path = "/models/m";
  request.session_config = std::string("\x10\0\xff", 3);
  request.one_thread = true;
  request.init_ops = {"a", ""};
  LoadRequest request_back;
  ASSERT_TRUE(LoadRequest::Unpack(request.Pack(), &request_back));
  EXPECT_EQ(request_back.format, ModelFormat::kGraphDef);
  EXPECT_EQ(request_back.path, request.path);
  EXPECT_EQ(request_back.session_config, request.session_config);
  EXPECT_TRUE(request_back.one_thread);
  EXPECT_EQ(request_back.init_ops, request.init_ops);

  LoadReply reply;
  reply.status = Status::NotFound("gone");
  reply.fixed_order = true;
  TensorDescription tensor;
  tensor.name = "x";
  tensor.type = 20;
  tensor.rank_known = false;
  reply.inputs = {tensor};
  LoadReply reply_back;
  ASSERT_TRUE(LoadReply::Unpack(reply.Pack(), &reply_back));
  EXPECT_EQ(reply_back.status.code, StatusCode::kNotFound);
  EXPECT_TRUE(reply_back.fixed_order);
  EXPECT_EQ(reply_back.inputs, reply.inputs);
  EXPECT_FALSE(LoadReply::Unpack(reply.Pack() + "x", &reply_back)) << "nothing may follow";
}

TEST(MessagesTest, TensorsOfAReplyLieInTheMemory) {
  RunReply reply;
  PlacedTensor tensor;
  tensor.offset = 64;
  tensor.size = 36;
  reply.outputs = {tensor};
  RunReply back;
  EXPECT_TRUE(RunReply::Unpack(reply.Pack(), 100, &back));
  EXPECT_FALSE(RunReply::Unpack(reply.Pack(), 99, &back));
  reply.outputs[0].offset = ~uint64_t{0} - 10;
  EXPECT_FALSE(RunReply::Unpack(reply.Pack(), 100, &back)) << "the sum overflows";
}

TEST(TurnTest, GoesBackAndForth) {
  Turn turn;
  int rounds = 0;
  std::thread worker([&] {
    while (turn.WaitWhile(Turn::kServer) == Turn::kWorker) {
      ++rounds;
      turn.Pass(Turn::kWorker, Turn::kServer);
    }
  });
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(turn.Pass(Turn::kServer, Turn::kWorker));
    EXPECT_EQ(turn.WaitWhile(Turn::kWorker), Turn::kServer);
    EXPECT_EQ(rounds, i + 1);
  }
  turn.Close();
  worker.join();
  EXPECT_FALSE(turn.Pass(Turn::kServer, Turn::kWorker)) << "for good";
}

class ChannelMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ChannelMemory::Create(&server_).ok());
    ASSERT_TRUE(ChannelMemory::Attach(UniqueFd(dup(server_->fd())), &worker_).ok());
  }
  uint64_t Pages() const {
    struct stat file {};
    fstat(server_->fd(), &file);
    return static_cast<uint64_t>(file.st_blocks) * 512;
  }

  std::unique_ptr<ChannelMemory> server_;
  std::unique_ptr<ChannelMemory> worker_;
};

TEST_F(ChannelMemoryTest, EitherEndMakesItLarger) {
  ASSERT_TRUE(server_->Reserve(1 << 20).ok());
  server_->data()[(1 << 20) - 1] = 's';
  ASSERT_TRUE(worker_->Refresh().ok());
  EXPECT_EQ(worker_->data()[(1 << 20) - 1], 's');
  ASSERT_TRUE(worker_->Reserve(3 << 20).ok());
  worker_->data()[(3 << 20) - 1] = 'w';
  ASSERT_TRUE(server_->Refresh().ok());
  EXPECT_EQ(server_->data()[(3 << 20) - 1], 'w');
  EXPECT_EQ(server_->data()[(1 << 20) - 1], 's');
}

TEST_F(ChannelMemoryTest, GivesPagesBackAndTakesThemAgain) {
  ASSERT_TRUE(server_->Reserve(8 << 20).ok());
  EXPECT_GE(Pages(), 8u << 20);
  server_->data()[0] = 'a';
  server_->Trim(1000);
  EXPECT_LT(Pages(), 1u << 20);
  EXPECT_EQ(server_->data()[0], 'a');
  ASSERT_TRUE(server_->Reserve(8 << 20).ok());
  EXPECT_GE(Pages(), 8u << 20);
}

TEST_F(ChannelMemoryTest, HasABound) {
  const Status refused = server_->Reserve(ChannelMemory::kMaxSize + 1);
  EXPECT_EQ(refused.code, StatusCode::kInvalidArgument);
  EXPECT_TRUE(server_->Reserve(100).ok());
}

TEST_F(ChannelMemoryTest, CanNotBeMadeSmallerThanItIs) {
  EXPECT_NE(ftruncate(worker_->fd(), 0), 0);
  server_->header()->data_size = uint64_t{1} << 40;
  EXPECT_EQ(worker_->Refresh().code, StatusCode::kInternal) << "larger than the file";
}

TEST_F(ChannelMemoryTest, WhoStillReadsAMappingKeepsItsContent) {
  std::strcpy(server_->data(), "before");
  const std::shared_ptr<Mapping> kept = worker_->data_mapping();
  ASSERT_TRUE(worker_->Detach(kept, 7).ok());
  std::strcpy(server_->data(), "after");
  EXPECT_STREQ(kept->data(), "before");
  EXPECT_STREQ(worker_->data(), "after");
}

TEST_F(ChannelMemoryTest, MessagesLieInTheData) {
  ASSERT_TRUE(worker_->PutMessage(200'000, "an answer").ok());
  ASSERT_TRUE(server_->Refresh().ok());
  EXPECT_EQ(server_->message(), "an answer");
  server_->header()->message_offset = ~uint64_t{0};
  EXPECT_EQ(server_->message(), "");
}

class ControlSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    server_ = std::make_unique<ControlSocket>(UniqueFd(fds[0]));
    worker_ = std::make_unique<ControlSocket>(UniqueFd(fds[1]));
  }
  std::unique_ptr<ControlSocket> server_;
  std::unique_ptr<ControlSocket> worker_;
};

TEST_F(ControlSocketTest, MessagesOfAnyLength) {
  const std::string large(3'000'000, 'x');
  std::thread sender([&] {
    EXPECT_TRUE(server_->Send(""));
    EXPECT_TRUE(server_->Send(large));
  });
  std::optional<ControlSocket::Message> message;
  while (!(message = worker_->Next())) ASSERT_TRUE(worker_->Receive(true));
  EXPECT_EQ(message->bytes, "");
  while (!(message = worker_->Next())) ASSERT_TRUE(worker_->Receive(true));
  EXPECT_EQ(message->bytes, large);
  sender.join();
  EXPECT_TRUE(worker_->Receive(false)) << "nothing there is no end";
}

TEST_F(ControlSocketTest, ADescriptorComesAlong) {
  UniqueFd file(memfd_create("file", MFD_CLOEXEC));
  ASSERT_EQ(write(file.get(), "content", 7), 7);
  EXPECT_TRUE(server_->Send("here", file.get()));
  ASSERT_TRUE(worker_->Receive(true));
  std::optional<ControlSocket::Message> message = worker_->Next();
  ASSERT_TRUE(message.has_value());
  ASSERT_TRUE(message->fd.valid());
  char content[8] = {};
  EXPECT_EQ(pread(message->fd.get(), content, 7, 0), 7);
  EXPECT_STREQ(content, "content");
}

TEST_F(ControlSocketTest, AnEndAndNonsenseAreTold) {
  const uint64_t size = ~uint64_t{0};
  ASSERT_EQ(send(server_->fd(), &size, sizeof(size), 0), static_cast<ssize_t>(sizeof(size)));
  EXPECT_FALSE(worker_->Receive(true)) << "no message is so long";
  server_.reset();
  EXPECT_FALSE(worker_->Receive(true));
  EXPECT_FALSE(worker_->Send("anybody?"));
}

}  // namespace
}  // namespace nereid_tensorflow
