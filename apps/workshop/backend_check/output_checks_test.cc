// SPDX-License-Identifier: Apache-2.0
#include "backend_check/output_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backend_check/guarded_allocator.h"

namespace nereid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CompiledModel Model(DataType type, Shape dims, int32_t max_batch_size) {
  CompiledModel model;
  model.max_batch_size = max_batch_size;
  OutputSpec output;
  output.name = "OUT";
  output.data_type = type;
  output.dims = std::move(dims);
  model.outputs.push_back(std::move(output));
  return model;
}

// The findings about an output of this type and shape that holds `bytes`, of which the backend has
// written the first `written`.
std::vector<std::string> Found(const CompiledModel& model, DataType type, const Shape& shape,
                               const std::string& bytes, int64_t rows = 0) {
  const GuardedAllocator allocator;
  OutputBuffer buffer;
  buffer.byte_size = bytes.size();
  EXPECT_TRUE(allocator.Allocate("OUT", nullptr, &buffer).ok());
  std::memcpy(buffer.base, bytes.data(), bytes.size());
  ResponseOutput output(nullptr, "OUT", type, shape);
  output.Adopt(buffer);
  std::vector<std::string> ids;
  for (const auto& [id, detail] : CheckOutput(model, output, rows)) ids.emplace_back(id);
  allocator.Release(output.TakeBuffer());
  return ids;
}

TEST(CheckOutput, TypeShapeAndSizeHaveToAgree) {
  const CompiledModel model = Model(DataType::kFp32, {2, -1}, 4);
  const std::string bytes(48, 'x');
  EXPECT_THAT(Found(model, DataType::kFp32, {2, 2, 3}, bytes, 2), IsEmpty());
  EXPECT_THAT(Found(model, DataType::kInt32, {2, 2, 3}, bytes, 2), ElementsAre("output-type"));
  EXPECT_THAT(Found(model, DataType::kFp32, {2, 3, 2}, bytes, 2), ElementsAre("output-shape"));
  EXPECT_THAT(Found(model, DataType::kFp32, {2, 2, 3}, bytes, 1), ElementsAre("output-shape"));
  EXPECT_THAT(Found(model, DataType::kFp32, {12}, bytes, 2), ElementsAre("output-shape"));
  EXPECT_THAT(Found(model, DataType::kFp32, {2, 2, 4}, bytes, 2), ElementsAre("output-size"));
}

TEST(CheckOutput, BytesAreLengthsAndElements) {
  const CompiledModel model = Model(DataType::kBytes, {-1}, 0);
  const std::string two("\1\0\0\0a\2\0\0\0bc", 11);
  EXPECT_THAT(Found(model, DataType::kBytes, {2}, two), IsEmpty());
  EXPECT_THAT(Found(model, DataType::kBytes, {1}, two), ElementsAre("output-size"));
  EXPECT_THAT(Found(model, DataType::kBytes, {3}, two), ElementsAre("output-size"));
  EXPECT_THAT(Found(model, DataType::kBytes, {2}, two.substr(0, 10)), ElementsAre("output-size"));
}

TEST(GuardedAllocator, SeesWhatIsWritten) {
  const GuardedAllocator allocator;
  OutputBuffer buffer;
  buffer.byte_size = 100;
  ASSERT_TRUE(allocator.Allocate("OUT", nullptr, &buffer).ok());
  EXPECT_TRUE(GuardedAllocator::Unwritten(buffer));
  EXPECT_FALSE(GuardedAllocator::Overrun(buffer));
  static_cast<char*>(buffer.base)[99] = 0;
  EXPECT_FALSE(GuardedAllocator::Unwritten(buffer));
  EXPECT_FALSE(GuardedAllocator::Overrun(buffer));
  static_cast<char*>(buffer.base)[100] = 0;
  EXPECT_TRUE(GuardedAllocator::Overrun(buffer));
  allocator.Release(buffer);
}

}  // namespace
}  // namespace nereid
