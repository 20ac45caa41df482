// SPDX-License-Identifier: Apache-2.0
#include "backends/python/transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/python/ipc/file_message.h"
#include "backends/sdk/ipc/memory_file.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using nereid_ipc::Mapping;
using nereid_ipc::Turn;
using nereid_python::Command;
using nereid_python::Control;
using nereid_python::Entry;
using nereid_python::EntryKind;
using nereid_python::Held;
using nereid_python::Ring;
using nereid_python::Slot;
using nereid_python::Tensor;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

class TransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<Transport>> made = Transport::Create();
    ASSERT_TRUE(made.ok());
    transport_ = *made;
    const std::vector<int> fds = transport_->descriptors();
    mapping_ = Mapping::Map(fds[0], 0, nereid_python::kControlFileSize);
    in_ = Mapping::Map(fds[1], 0, 1 << 20);
    out_ = Mapping::Map(fds[2], 0, 1 << 20);
  }
  void TearDown() override {
    transport_.reset();
    EXPECT_EQ(testing::LiveErrors(), 0);
  }

  // The control file as the process sees it.
  Control* control() { return reinterpret_cast<Control*>(mapping_->data()); }
  std::string CommandText() {
    ValueReader reader(
        std::string_view(in_->data() + control()->message_offset, control()->message_size));
    return reader.Text();
  }
  void Reply(const ValueWriter& reply) {
    std::memcpy(out_->data(), reply.bytes().data(), reply.bytes().size());
    control()->reply_offset = 0;
    control()->reply_size = reply.bytes().size();
    control()->turn.Pass(Turn::kWorker, Turn::kServer);
  }
  // Replies are 64 bytes apart.
  void ReplyToPart(uint32_t part, const ValueWriter& reply) {
    const uint64_t offset = uint64_t{64} * part;
    std::memcpy(out_->data() + offset, reply.bytes().data(), reply.bytes().size());
    control()->parts[part] = {offset, reply.bytes().size(), 10 + part, 20 + part};
    control()->parts_replied.store(part + 1);
    if (part + 1 == control()->part_count) {
      control()->turn.Pass(Turn::kWorker, Turn::kServer);
    } else {
      control()->turn.Notify(Turn::kWorker);
    }
  }
  void Say(const Entry& entry) {
    Ring& ring = control()->ring;
    ring.entries[ring.written.load() % Ring::kEntries] = entry;
    ring.written.fetch_add(1);
    if (ring.sleeping.exchange(0) != 0) transport_->Ring();
  }
  // Sends a command, which the process answers.
  void Exchange() {
    std::thread process([&] {
      EXPECT_EQ(control()->turn.WaitWhile(Turn::kServer), Turn::kWorker);
      Reply(Text("reply"));
    });
    EXPECT_TRUE(transport_->Run(Command::kExecute, Text("command")).ok());
    process.join();
  }
  Held HeldOf(size_t number) { return static_cast<Held>(control()->held[number].load()); }
  bool Rings() {
    pollfd bell{transport_->doorbell(), POLLIN, 0};
    return poll(&bell, 1, 0) > 0;
  }
  static ValueWriter Text(std::string_view text) {
    ValueWriter writer;
    writer.Text(text);
    return writer;
  }

  std::shared_ptr<Transport> transport_;
  std::shared_ptr<Mapping> mapping_;
  std::shared_ptr<Mapping> in_;
  std::shared_ptr<Mapping> out_;
};

TEST_F(TransportTest, TheMemoryOfALargeRequestGoesBack) {
  const auto pages = [&] {
    struct stat file {};
    EXPECT_EQ(fstat(transport_->descriptors()[1], &file), 0);
    return static_cast<uint64_t>(file.st_blocks) * 512;
  };
  // The process answers Trim.
  std::atomic<int> trims{0};
  std::thread process([&] {
    while (control()->turn.WaitWhile(Turn::kServer) == Turn::kWorker) {
      EXPECT_EQ(static_cast<Command>(control()->command), Command::kTrim);
      ++trims;
      Reply(Text(""));
    }
  });
  EXPECT_FALSE(transport_->large());
  Result<Transport::Block> block = transport_->Allocate(32 << 20);
  ASSERT_TRUE(block.ok());
  EXPECT_TRUE(transport_->large());
  EXPECT_TRUE(Rings()) << "somebody has to look from now on";
  const auto trim = [&] {
    transport_->Trim();
    while (control()->turn.now() != Turn::kServer) std::this_thread::yield();
  };
  for (int i = 0; i < 2; ++i) trim();
  EXPECT_GE(pages(), uint64_t{32} << 20) << "in use";
  EXPECT_FALSE(transport_->large()) << "looking again would be in vain";
  transport_->Free(block->offset);
  EXPECT_TRUE(transport_->large());
  trim();
  EXPECT_LE(pages(), uint64_t{1} << 20);
  EXPECT_FALSE(transport_->large());
  EXPECT_EQ(trims, 3);
  {
    const CommandTurn busy(transport_.get());
    transport_->Trim();
  }
  EXPECT_EQ(trims, 3) << "not during a command";
  transport_->Close();
  process.join();
}

TEST_F(TransportTest, TheEndOfAHeldReplyIsLookedAfter) {
  Exchange();
  std::shared_ptr<const void> held = Transport::HoldReply(transport_);
  ASSERT_NE(held, nullptr);
  EXPECT_FALSE(transport_->large());
  held.reset();
  EXPECT_TRUE(transport_->large());
  EXPECT_TRUE(Rings());
}

TEST_F(TransportTest, ACommandAndItsReply) {
  std::thread process([&] {
    for (const char* const expected : {"one", "two"}) {
      EXPECT_EQ(control()->turn.WaitWhile(Turn::kServer), Turn::kWorker);
      EXPECT_EQ(static_cast<Command>(control()->command), Command::kExecute);
      EXPECT_EQ(CommandText(), expected);
      Reply(Text(std::string("to ") + expected));
    }
  });
  for (const char* const command : {"one", "two"}) {
    const CommandTurn turn(transport_.get());
    const Result<std::string_view> reply = transport_->Run(Command::kExecute, Text(command));
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(ValueReader(*reply).Text(), std::string("to ") + command);
  }
  process.join();
}

TEST_F(TransportTest, NobodyWaitsForAProcessThatHasEnded) {
  std::thread end([&] {
    control()->turn.WaitWhile(Turn::kServer);
    transport_->Close();
  });
  const CommandTurn turn(transport_.get());
  EXPECT_FALSE(transport_->Run(Command::kExecute, Text("x")).ok());
  EXPECT_FALSE(transport_->Run(Command::kExecute, Text("x")).ok());
  EXPECT_TRUE(transport_->closed());
  end.join();
}

TEST_F(TransportTest, AReplyThatComesTooLateIsNotTakenForTheNextOne) {
  const CommandTurn turn(transport_.get());
  Result<std::string_view> late = transport_->Run(Command::kReady, Text("first"), 1'000'000);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), TRITONSERVER_ERROR_UNAVAILABLE);
  std::thread process([&] {
    Reply(Text("to the first"));
    EXPECT_EQ(control()->turn.WaitWhile(Turn::kServer), Turn::kWorker);
    Reply(Text("to the second"));
  });
  const Result<std::string_view> reply = transport_->Run(Command::kExecute, Text("second"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(ValueReader(*reply).Text(), "to the second");
  process.join();
}

TEST_F(TransportTest, OneTurnAtATime) {
  const CommandTurn turn(transport_.get());
  EXPECT_TRUE(turn.held());
  const CommandTurn other(transport_.get(), 1'000'000);
  EXPECT_FALSE(other.held());
}

TEST_F(TransportTest, AReplyOutsideOfTheFileIsRefused) {
  for (const auto& [offset, size] : {std::pair<uint64_t, uint64_t>{0, uint64_t{1} << 40},
                                     {~uint64_t{0}, 1},
                                     {uint64_t{1} << 30, 8}}) {
    std::thread process([&, offset = offset, size = size] {
      control()->turn.WaitWhile(Turn::kServer);
      control()->reply_offset = offset;
      control()->reply_size = size;
      control()->turn.Pass(Turn::kWorker, Turn::kServer);
    });
    const CommandTurn turn(transport_.get());
    EXPECT_FALSE(transport_->Run(Command::kExecute, Text("x")).ok());
    process.join();
  }
}

TEST_F(TransportTest, EachPartOfACommandHasAReplyOfItsOwn) {
  constexpr uint32_t kParts = 3;
  for (int command = 0; command < 2; ++command) {
    std::atomic<uint32_t> taken{0};
    std::thread process([&] {
      EXPECT_EQ(control()->turn.WaitWhile(Turn::kServer), Turn::kWorker);
      EXPECT_EQ(static_cast<Command>(control()->command), Command::kExecuteEach);
      EXPECT_EQ(control()->part_count, kParts);
      for (uint32_t part = 0; part < kParts; ++part) {
        ReplyToPart(part, Text("to " + std::to_string(part)));
        // The server has a reply although the process still has the turn.
        while (taken.load() <= part) std::this_thread::yield();
      }
    });
    const CommandTurn turn(transport_.get());
    ASSERT_TRUE(transport_->BeginEach(Text("batches"), kParts).ok());
    for (uint32_t part = 0; part < kParts; ++part) {
      const Result<Transport::PartReply> reply = transport_->AwaitPart(part);
      ASSERT_TRUE(reply.ok());
      EXPECT_EQ(ValueReader(reply->message).Text(), "to " + std::to_string(part));
      EXPECT_EQ(reply->compute_start, 10 + part);
      EXPECT_EQ(reply->compute_end, 20 + part);
      ++taken;
    }
    process.join();
  }
}

TEST_F(TransportTest, RepliesBeforeTheEndOfTheProcessCount) {
  const CommandTurn turn(transport_.get());
  ASSERT_TRUE(transport_->BeginEach(Text("batches"), 3).ok());
  ReplyToPart(0, Text("to 0"));
  std::thread end([&] { transport_->Close(); });
  const Result<Transport::PartReply> first = transport_->AwaitPart(0);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(ValueReader(first->message).Text(), "to 0");
  Result<Transport::PartReply> second = transport_->AwaitPart(1);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), TRITONSERVER_ERROR_UNAVAILABLE);
  end.join();
  EXPECT_FALSE(transport_->BeginEach(Text("more"), 1).ok());
}

TEST_F(TransportTest, AProcessMayAnswerSuchACommandAsAWhole) {
  const CommandTurn turn(transport_.get());
  ASSERT_TRUE(transport_->BeginEach(Text("batches"), 2).ok());
  Reply(Text("what?"));
  for (uint32_t part = 0; part < 2; ++part) {
    const Result<Transport::PartReply> reply = transport_->AwaitPart(part);
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(ValueReader(reply->message).Text(), "what?");
  }
}

TEST_F(TransportTest, ThePlaceOfAPartsReplyIsChecked) {
  const CommandTurn turn(transport_.get());
  ASSERT_TRUE(transport_->BeginEach(Text("batches"), 1).ok());
  control()->parts[0] = {uint64_t{1} << 30, 8, 0, 0};
  control()->parts_replied.store(1);
  control()->turn.Pass(Turn::kWorker, Turn::kServer);
  EXPECT_FALSE(transport_->AwaitPart(0).ok());
}

TEST_F(TransportTest, AReplyIsKeptWhileSomebodyHoldsIt) {
  const CommandTurn turn(transport_.get());
  Exchange();
  auto first = Transport::HoldReply(transport_);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(HeldOf(0), Held::kNot) << "the process learns of it with the next command";
  Exchange();
  EXPECT_EQ(control()->keep_reply, 1U);
  EXPECT_EQ(HeldOf(0), Held::kHeld);
  Exchange();
  EXPECT_EQ(control()->keep_reply, 0U) << "the other reply is not held";

  first.reset();
  EXPECT_EQ(HeldOf(0), Held::kOver);
  // Its number is taken until the process has freed the reply.
  auto second = Transport::HoldReply(transport_);
  Exchange();
  EXPECT_EQ(control()->keep_reply, 2U);
  control()->held[0].store(static_cast<uint32_t>(Held::kNot));
  auto third = Transport::HoldReply(transport_);
  Exchange();
  EXPECT_EQ(control()->keep_reply, 1U);
}

TEST_F(TransportTest, AReplyThatNobodyHoldsAnyMoreIsNotKept) {
  const CommandTurn turn(transport_.get());
  Exchange();
  ASSERT_NE(Transport::HoldReply(transport_), nullptr);
  Exchange();
  EXPECT_EQ(control()->keep_reply, 0U);
  EXPECT_EQ(HeldOf(0), Held::kNot);
}

TEST_F(TransportTest, SoManyRepliesAreKeptAtMost) {
  std::vector<std::shared_ptr<const void>> held;
  {
    const CommandTurn turn(transport_.get());
    for (uint32_t i = 0; i < Control::kMostHeld; ++i) {
      Exchange();
      held.push_back(Transport::HoldReply(transport_));
      ASSERT_NE(held.back(), nullptr);
    }
    Exchange();
    EXPECT_EQ(Transport::HoldReply(transport_), nullptr);
  }
  // The memory stays as long as it is held.
  std::weak_ptr<Transport> transport = transport_;
  transport_.reset();
  EXPECT_FALSE(transport.expired());
  held.clear();
  EXPECT_TRUE(transport.expired());
}

TEST_F(TransportTest, TheProcessSeesWhichRequestsHaveNoCredit) {
  nereid_python::WithoutCredit& table = control()->without_credit;
  EXPECT_EQ(table.used.load(), 0u);
  EXPECT_TRUE(transport_->WithdrawCredit(7));
  EXPECT_TRUE(transport_->WithdrawCredit(8));
  EXPECT_EQ(table.used.load(), 2u);
  EXPECT_EQ(table.requests[0].load(), 7u);
  EXPECT_EQ(table.requests[1].load(), 8u);
  const uint32_t returns = table.returns.load();
  transport_->ReturnCredit(7);
  EXPECT_EQ(table.returns.load(), returns + 1);
  EXPECT_EQ(table.requests[0].load(), 0u);
  EXPECT_TRUE(transport_->WithdrawCredit(9));
  EXPECT_EQ(table.requests[0].load(), 9u) << "a place is used again";
  EXPECT_EQ(table.used.load(), 2u);
}

TEST_F(TransportTest, SoManyRequestsMayHaveNoCreditAtMost) {
  const uint64_t most = nereid_python::WithoutCredit::kMost;
  for (uint64_t i = 1; i <= most; ++i) EXPECT_TRUE(transport_->WithdrawCredit(i));
  EXPECT_FALSE(transport_->WithdrawCredit(most + 1));
  transport_->ReturnCredit(5);
  EXPECT_TRUE(transport_->WithdrawCredit(most + 2));
  control()->without_credit.used.store(~uint32_t{0});  // the process may write anything there
  transport_->ReturnCredit(most);
  EXPECT_TRUE(transport_->WithdrawCredit(most + 3));
}

TEST_F(TransportTest, ATensorLiesInItsBlock) {
  const Result<Transport::Block> block = transport_->Allocate(100);
  ASSERT_TRUE(block.ok());
  std::memcpy(block->data, "0123456789", 10);
  Tensor tensor;
  tensor.file = Tensor::kIn;
  tensor.block = block->offset;
  tensor.offset = block->offset + 2;
  tensor.size = 3;
  const Result<std::string_view> bytes = transport_->BytesOf(tensor);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, "234");
  tensor.size = 200;
  EXPECT_FALSE(transport_->BytesOf(tensor).ok());
  tensor.size = ~uint64_t{0};
  EXPECT_FALSE(transport_->BytesOf(tensor).ok());
  tensor.size = 1;
  tensor.block += 64;
  EXPECT_FALSE(transport_->BytesOf(tensor).ok());
  tensor.file = Tensor::kOut;
  tensor.offset = uint64_t{1} << 35;
  EXPECT_FALSE(transport_->BytesOf(tensor).ok());
  tensor.size = 0;
  EXPECT_TRUE(transport_->BytesOf(tensor).ok());
  transport_->Free(block->offset);
  transport_->Free(block->offset);  // is ignored
}

TEST_F(TransportTest, FilesArriveWithTheirNumbers) {
  const int socket = transport_->descriptors()[4];
  const nereid_ipc::UniqueFd file = nereid_ipc::CreateMemoryFile("test", 4096);
  for (uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(transport_->SendFile(file.get()), i);
  EXPECT_EQ(transport_->SendFile(-1), std::nullopt);
  uint64_t number = 0;
  for (uint64_t i = 1; i <= 3; ++i) {
    nereid_ipc::UniqueFd received;
    ASSERT_TRUE(nereid_python::ReceiveFile(socket, &number, &received));
    EXPECT_EQ(number, i);
    EXPECT_EQ(fcntl(received.get(), F_GET_SEALS), fcntl(file.get(), F_GET_SEALS));
    EXPECT_NE(fcntl(received.get(), F_GETFD) & FD_CLOEXEC, 0);
  }
  nereid_ipc::UniqueFd none;
  EXPECT_FALSE(nereid_python::ReceiveFile(socket, &number, &none));
  EXPECT_EQ(transport_->SendFile(file.get()), 4u);
}

TEST_F(TransportTest, AProcessThatReadsNothingGetsNoMoreFiles) {
  const nereid_ipc::UniqueFd file = nereid_ipc::CreateMemoryFile("test", 4096);
  int sent = 0;
  while (transport_->SendFile(file.get()).has_value() && sent < 100'000) ++sent;
  EXPECT_GT(sent, 100);
  EXPECT_LT(sent, 100'000);
}

TEST_F(TransportTest, InputsAreCopiedForAWhileIfMappingThemWasInVain) {
  EXPECT_FALSE(transport_->TakeMapsInputs());
  control()->maps_inputs.store(1);
  EXPECT_TRUE(transport_->TakeMapsInputs());
  control()->inputs_taken = 1;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(transport_->TakeMapsInputs());
  EXPECT_TRUE(transport_->TakeMapsInputs());
}

TEST_F(TransportTest, TheRingKeepsItsOrderAndTheBellRingsOnce) {
  EXPECT_FALSE(Rings());
  uint64_t written = 0;
  uint64_t read = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(transport_->Sleep());
    for (int i = 0; i < 700; ++i) Say({static_cast<uint32_t>(EntryKind::kFree), 0, written++, 0});
    EXPECT_TRUE(Rings());
    EXPECT_FALSE(transport_->Sleep());
    transport_->ClearDoorbell();
    EXPECT_FALSE(Rings());
    Entry entry;
    while (transport_->NextEntry(&entry)) {
      EXPECT_EQ(entry.offset, read++);
      transport_->EndEntry();
    }
  }
  EXPECT_EQ(read, written);
}

TEST_F(TransportTest, AnswersLieInTheSlotOrInABlock) {
  for (const size_t length : {size_t{5}, size_t{100'000}}) {
    Slot& slot = control()->slots[7];
    slot.state = Slot::kAsked;
    const std::string text(length, 'a');
    transport_->Answer(7, Text(text));
    EXPECT_EQ(slot.state.load(), Slot::kAnswered);
    const char* const data = slot.inline_size > 0 ? slot.inline_bytes : in_->data() + slot.offset;
    ValueReader reader(std::string_view(data, slot.inline_size > 0 ? slot.inline_size : slot.size));
    EXPECT_EQ(reader.Text(), text);
    EXPECT_EQ(slot.inline_size > 0, length == 5);
  }
}

TEST_F(TransportTest, WhoDoesNotWaitIsNotAnswered) {
  transport_->Answer(8, Text("x"));
  EXPECT_EQ(control()->slots[8].state.load(), Slot::kFree);
  transport_->Answer(Control::kSlots, Text("x"));
  transport_->Answer(~uint32_t{0}, Text("x"));
}

}  // namespace
}  // namespace nereid_backend
