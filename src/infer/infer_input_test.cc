// SPDX-License-Identifier: Apache-2.0
#include "infer/infer_input.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

InferInput MakeInput() { return InferInput("in", DataType::kInt8, {1, 4}); }

InputBuffer Piece(const char* text, MemoryType type = MemoryType::kCpu, int64_t id = 0) {
  return {text, std::char_traits<char>::length(text), {type, id}};
}

std::string Text(const InputBuffer& buffer) {
  return std::string(static_cast<const char*>(buffer.base), buffer.byte_size);
}

TEST(InferInputTest, KeepsWhatItWasMadeOf) {
  const InferInput input = MakeInput();
  EXPECT_EQ(input.name(), "in");
  EXPECT_EQ(input.data_type(), DataType::kInt8);
  EXPECT_EQ(input.sent_shape(), (Shape{1, 4}));
  EXPECT_EQ(input.byte_size(), 0u);
}

TEST(InferInputTest, EmptyPiecesAreNotKept) {
  InferInput input = MakeInput();
  input.AppendBuffer(Piece(""));
  EXPECT_TRUE(input.buffers().empty());
  input.AppendBuffer(Piece("ab"));
  input.AppendBuffer(Piece(""));
  EXPECT_EQ(input.buffers().size(), 1u);
  EXPECT_EQ(input.byte_size(), 2u);
}

TEST(InferInputTest, CoalesceLeavesOnePieceWhereItIs) {
  InferInput input = MakeInput();
  const char* const data = "abcd";
  input.AppendBuffer(Piece(data));
  EXPECT_EQ(input.Coalesce(), 0u);
  EXPECT_EQ(input.buffers()[0].base, data);
}

TEST(InferInputTest, CoalesceJoinsPiecesInOrder) {
  InferInput input = MakeInput();
  for (const char* piece : {"ab", "c", "def"}) input.AppendBuffer(Piece(piece));
  EXPECT_EQ(input.Coalesce(), 6u);
  ASSERT_EQ(input.buffers().size(), 1u);
  EXPECT_EQ(Text(input.buffers()[0]), "abcdef");
  EXPECT_EQ(input.byte_size(), 6u);
  EXPECT_EQ(input.Coalesce(), 0u) << "it is one piece by now";
}

TEST(InferInputTest, CoalesceDoesNotTouchGpuMemory) {
  InferInput input = MakeInput();
  input.AppendBuffer(Piece("ab"));
  input.AppendBuffer(Piece("cd", MemoryType::kGpu, 3));
  EXPECT_EQ(input.Coalesce(), 0u);
  EXPECT_EQ(input.buffers().size(), 2u);
}

TEST(InferInputTest, AttributesDescribeEachPiece) {
  InferInput input = MakeInput();
  input.AppendBuffer(Piece("ab"));
  input.AppendBuffer(Piece("cde", MemoryType::kGpu, 3));
  const TRITONSERVER_BufferAttributes* const first = input.AttributesOf(0);
  const TRITONSERVER_BufferAttributes* const second = input.AttributesOf(1);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->byte_size, 2u);
  EXPECT_EQ(first->memory_type, TRITONSERVER_MEMORY_CPU);
  EXPECT_EQ(second->byte_size, 3u);
  EXPECT_EQ(second->memory_type, TRITONSERVER_MEMORY_GPU);
  EXPECT_EQ(second->memory_type_id, 3);
  EXPECT_EQ(input.AttributesOf(2), nullptr);
}

TEST(InferInputTest, AttributesFollowTheBuffersWhenTheseAreReplaced) {
  InferInput input = MakeInput();
  input.AppendBuffer(Piece("ab"));
  EXPECT_EQ(input.AttributesOf(0)->byte_size, 2u);
  input.AppendBuffer(Piece("cde"));
  ASSERT_NE(input.AttributesOf(1), nullptr);
  EXPECT_EQ(input.AttributesOf(1)->byte_size, 3u);
  input.Coalesce();
  EXPECT_EQ(input.AttributesOf(0)->byte_size, 5u);
  EXPECT_EQ(input.AttributesOf(1), nullptr);
  input.RemoveAllBuffers();
  EXPECT_EQ(input.AttributesOf(0), nullptr);
}

TEST(InferInputTest, HostPolicyBuffersAreForThatPolicyOnly) {
  InferInput input = MakeInput();
  input.AppendBuffer(Piece("plain"));
  input.AppendBufferFor("near", Piece("special"));
  input.AppendBufferFor("near", Piece(""));
  EXPECT_EQ(Text(input.BuffersFor("near")[0]), "special");
  EXPECT_EQ(input.BuffersFor("near").size(), 1u);
  EXPECT_EQ(Text(input.BuffersFor("far")[0]), "plain");
  EXPECT_EQ(Text(input.BuffersFor(nullptr)[0]), "plain");
  EXPECT_EQ(input.byte_size(), 5u) << "pieces for a policy are another view of the same tensor";
  input.RemoveAllBuffers();
  EXPECT_TRUE(input.BuffersFor("near").empty());
}

}  // namespace
}  // namespace nereid
