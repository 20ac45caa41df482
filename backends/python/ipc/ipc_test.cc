// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "backends/python/ipc/block_allocator.h"
#include "backends/python/ipc/control.h"
#include "backends/python/ipc/value.h"
#include "backends/sdk/ipc/memory_file.h"

namespace nereid_python {
namespace {

using nereid_ipc::UniqueFd;

Tensor SomeTensor() {
  Tensor tensor;
  tensor.name = "x";
  tensor.type = 11;
  tensor.file = Tensor::kOut;
  tensor.dims = {2, -1};
  tensor.block = 64;
  tensor.offset = 128;
  tensor.size = 8;
  return tensor;
}

std::string Everything() {
  ValueWriter writer;
  writer.List(8);
  writer.None();
  writer.Bool(true);
  writer.Int(-5);
  writer.Uint(~uint64_t{0});
  writer.Double(0.5);
  writer.Map(1);
  writer.Text("key");
  writer.Bytes(std::string_view("\0a", 2));
  writer.Put(SomeTensor());
  writer.Int(7);
  return writer.bytes();
}

void ReadEverything(ValueReader* reader) {
  reader->List();
  reader->TakeNone();
  reader->Bool();
  reader->Int();
  reader->Uint();
  reader->Double();
  reader->Map();
  reader->Text();
  reader->Bytes();
  reader->ReadTensor();
  reader->Uint();
}

TEST(ValueTest, ComesBackAsItWas) {
  const std::string bytes = Everything();
  ValueReader reader(bytes);
  EXPECT_EQ(reader.List(), 8u);
  EXPECT_TRUE(reader.TakeNone());
  EXPECT_FALSE(reader.TakeNone());
  EXPECT_TRUE(reader.Bool());
  EXPECT_EQ(reader.Int(), -5);
  EXPECT_EQ(reader.Uint(), ~uint64_t{0});
  EXPECT_EQ(reader.Double(), 0.5);
  EXPECT_EQ(reader.Map(), 1u);
  EXPECT_EQ(reader.Text(), "key");
  EXPECT_EQ(reader.Bytes(), std::string_view("\0a", 2));
  const Tensor tensor = reader.ReadTensor();
  EXPECT_EQ(tensor.name, "x");
  EXPECT_EQ(tensor.type, 11);
  EXPECT_EQ(tensor.file, Tensor::kOut);
  EXPECT_EQ(tensor.dims, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(tensor.block, 64u);
  EXPECT_EQ(tensor.offset, 128u);
  EXPECT_EQ(tensor.size, 8u);
  EXPECT_EQ(reader.Uint(), 7u);
  EXPECT_TRUE(reader.Done());
}

TEST(ValueTest, StopsAtTheEndWhereverThatIs) {
  const std::string bytes = Everything();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ValueReader reader(std::string_view(bytes).substr(0, size));
    ReadEverything(&reader);
    EXPECT_FALSE(reader.Done()) << size;
  }
  ValueReader whole(bytes);
  ReadEverything(&whole);
  EXPECT_TRUE(whole.Done());
}

TEST(ValueTest, WhatIsNotAskedForFails) {
  const std::string bytes = Everything();
  ValueReader text(bytes);
  EXPECT_EQ(text.Text(), "");
  EXPECT_FALSE(text.ok());
  ValueWriter negative;
  negative.Int(-1);
  ValueReader number(negative.bytes());
  EXPECT_EQ(number.Uint(), 0u);
  EXPECT_FALSE(number.ok());
}

TEST(ValueTest, AWrongCountOrLengthAllocatesNothing) {
  ValueReader list(std::string_view("l\xff\xff\xff\xff", 5));
  EXPECT_EQ(list.List(), 0u);
  EXPECT_FALSE(list.ok());
  ValueReader text(std::string_view("s\xff\xff\xff\xffx", 6));
  EXPECT_EQ(text.Text(), "");
  EXPECT_FALSE(text.ok());
}

class BlockAllocatorTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kLimit = 64 << 20;
  BlockAllocatorTest() : fd_(nereid_ipc::CreateMemoryFile("test", 4096)) {}

  uint64_t PagesInBytes() const {
    struct stat file {};
    EXPECT_EQ(fstat(fd_.get(), &file), 0);
    return static_cast<uint64_t>(file.st_blocks) * 512;
  }

  const UniqueFd fd_;
};

TEST_F(BlockAllocatorTest, GivesAndTakesBack) {
  BlockAllocator blocks(fd_.get(), kLimit);
  EXPECT_EQ(blocks.Allocate(10), 0u);
  EXPECT_EQ(blocks.Allocate(100), 64u);
  EXPECT_EQ(blocks.Allocate(0), 192u);
  EXPECT_EQ(blocks.SizeOf(64), 128u);
  EXPECT_EQ(blocks.SizeOf(65), 0u);
  EXPECT_TRUE(blocks.Free(64));
  EXPECT_FALSE(blocks.Free(64));
  EXPECT_FALSE(blocks.Free(1 << 20));
  EXPECT_EQ(blocks.Allocate(128), 64u);
  EXPECT_TRUE(blocks.Free(0));
  EXPECT_TRUE(blocks.Free(192));
  EXPECT_TRUE(blocks.Free(64));
  EXPECT_EQ(blocks.used(), 0u);
  EXPECT_EQ(blocks.Allocate(256), 0u);  // the three free blocks were joined
}

TEST_F(BlockAllocatorTest, HasALimit) {
  BlockAllocator blocks(fd_.get(), kLimit);
  EXPECT_FALSE(blocks.Allocate(kLimit + 1).has_value());
  EXPECT_FALSE(blocks.Allocate(~uint64_t{0}).has_value());
  EXPECT_EQ(blocks.Allocate(kLimit), 0u);
  EXPECT_FALSE(blocks.Allocate(1).has_value());
  EXPECT_TRUE(blocks.Free(0));
  EXPECT_EQ(blocks.Allocate(1), 0u);
}

TEST_F(BlockAllocatorTest, PagesThatAreNoLongerNeededGoBack) {
  BlockAllocator blocks(fd_.get(), kLimit);
  EXPECT_TRUE(blocks.Free(*blocks.Allocate(32 << 20)));
  EXPECT_GE(PagesInBytes(), uint64_t{32} << 20);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(blocks.Free(*blocks.Allocate(100)));
  EXPECT_LE(PagesInBytes(), uint64_t{1} << 20);
  EXPECT_TRUE(blocks.Free(*blocks.Allocate(32 << 20)));
  EXPECT_GE(PagesInBytes(), uint64_t{32} << 20);
}

TEST_F(BlockAllocatorTest, TrimGivesBackWhatWasNotNeededSinceTheLastOne) {
  BlockAllocator blocks(fd_.get(), kLimit);
  EXPECT_TRUE(blocks.Free(*blocks.Allocate(32 << 20)));
  blocks.Trim();
  EXPECT_GE(PagesInBytes(), uint64_t{32} << 20) << "needed until now";
  const uint64_t small = *blocks.Allocate(100);
  blocks.Trim();
  EXPECT_LE(PagesInBytes(), uint64_t{1} << 20);
  EXPECT_TRUE(blocks.Free(small));
}

// No two blocks overlap, in whatever order they are allocated and freed.
TEST_F(BlockAllocatorTest, ManyAtRandom) {
  BlockAllocator blocks(fd_.get(), kLimit);
  std::mt19937 random(1);
  std::map<uint64_t, uint64_t> held;
  for (int i = 0; i < 20'000; ++i) {
    if (!held.empty() && (random() % 2 == 0 || held.size() > 200)) {
      const auto it = std::next(held.begin(), static_cast<int64_t>(random() % held.size()));
      EXPECT_TRUE(blocks.Free(it->first));
      held.erase(it);
      continue;
    }
    const uint64_t size = random() % (random() % 50 == 0 ? 1 << 20 : 2000);
    const std::optional<uint64_t> offset = blocks.Allocate(size);
    if (!offset.has_value()) continue;
    const auto next = held.lower_bound(*offset);
    if (next != held.end()) {
      ASSERT_LE(*offset + size, next->first);
    }
    if (next != held.begin()) {
      const auto previous = std::prev(next);
      ASSERT_LE(previous->first + previous->second, *offset);
    }
    ASSERT_LE(*offset + size, blocks.paged());
    held[*offset] = std::max<uint64_t>(size, 1);
  }
  for (const auto& [offset, size] : held) EXPECT_TRUE(blocks.Free(offset));
  EXPECT_EQ(blocks.used(), 0u);
}

}  // namespace
}  // namespace nereid_python
