// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Wire(std::initializer_list<std::string_view> elements) {
  std::string wire;
  for (const std::string_view element : elements) {
    std::string one(BytesWireSize(element), '\0');
    WriteBytes(element, one.data());
    wire += one;
  }
  return wire;
}

TEST(GatherTest, OneAlignedPieceIsNotCopied) {
  alignas(8) const char data[16] = "0123456789abcde";
  Scratch scratch;
  EXPECT_EQ(Gather({{data, 16}}, 8, &scratch), data);
  EXPECT_EQ(scratch.capacity(), 0u);
}

TEST(GatherTest, OneMisalignedPieceIsCopiedOnce) {
  alignas(8) const char data[16] = "0123456789abcde";
  Scratch scratch;
  const char* gathered = Gather({{data + 1, 8}}, 8, &scratch);
  EXPECT_NE(gathered, data + 1);
  EXPECT_EQ(std::string(gathered, 8), "12345678");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(gathered) % 8, 0u);
}

TEST(GatherTest, PiecesAreJoinedInOrder) {
  Scratch scratch;
  const std::vector<Piece> pieces = {{"ab", 2}, {"c", 1}, {"def", 3}};
  EXPECT_EQ(TotalSize(pieces), 6u);
  EXPECT_EQ(std::string(Gather(pieces, 1, &scratch), 6), "abcdef");
}

TEST(GatherTest, NoBytesStillGiveAnAddress) {
  Scratch scratch;
  EXPECT_NE(Gather({}, 8, &scratch), nullptr);
}

TEST(InputTest, ReadsPropertiesAndSkipsEmptyBuffers) {
  TRITONBACKEND_Request request;
  request.inputs.push_back(testing::MakeInput("X", TRITONSERVER_TYPE_UINT8, {2, 2}, "ab"));
  request.inputs[0].buffers.push_back("");
  request.inputs[0].buffers.push_back("cd");
  Result<InputView> view = InputView::Find(&request, "X");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->byte_size, 4u);
  EXPECT_EQ(view->dim_count, 2u);
  std::vector<Piece> pieces;
  ASSERT_TRUE(AppendPieces(*view, &pieces).ok());
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(std::string(pieces[1].data, pieces[1].size), "cd");
  EXPECT_FALSE(InputView::Find(&request, "Z").ok());
}

TEST(InputTest, GpuMemoryIsRefused) {
  TRITONBACKEND_Request request;
  request.inputs.push_back(testing::MakeInput("X", TRITONSERVER_TYPE_UINT8, {2}, "ab"));
  request.inputs[0].memory = TRITONSERVER_MEMORY_GPU;
  Result<InputView> view = InputView::Find(&request, "X");
  ASSERT_TRUE(view.ok());
  std::vector<Piece> pieces;
  const Error error = AppendPieces(*view, &pieces);
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.code(), TRITONSERVER_ERROR_UNSUPPORTED);
}

TEST(BytesTest, RoundTrip) {
  const std::string wire = Wire({"a", "", std::string_view("x\0y", 3)});
  std::vector<std::string_view> elements;
  ASSERT_TRUE(ParseBytes(wire, 3, &elements).ok());
  EXPECT_THAT(elements, ElementsAre("a", "", std::string_view("x\0y", 3)));
}

TEST(BytesTest, WrongSizesAreErrors) {
  const std::string wire = Wire({"abc", "d"});
  std::vector<std::string_view> elements;
  const Error short_by_one =
      ParseBytes(std::string_view(wire).substr(0, wire.size() - 1), 2, &elements);
  ASSERT_FALSE(short_by_one.ok());
  EXPECT_THAT(short_by_one.message(), HasSubstr("element 1 of 2"));
  EXPECT_FALSE(ParseBytes(wire, 1, &elements).ok()) << "bytes are left over";
  EXPECT_FALSE(ParseBytes(wire, 3, &elements).ok()) << "an element is missing";
  EXPECT_FALSE(ParseBytes("\xff\xff\xff\xff", 1, &elements).ok()) << "length beyond the end";
  EXPECT_TRUE(ParseBytes("", 0, &elements).ok());
}

TEST(ElementCountTest, ProductsAndTheirLimits) {
  const int64_t dims[] = {2, 3, 4};
  EXPECT_EQ(ElementCount(dims, 3), 24);
  EXPECT_EQ(ElementCount(dims, 0), 1);
  const int64_t open[] = {2, -1};
  EXPECT_EQ(ElementCount(open, 2), -1);
  const int64_t huge[] = {INT64_MAX, 2};
  EXPECT_EQ(ElementCount(huge, 2), -1);
}

}  // namespace
}  // namespace nereid_backend
