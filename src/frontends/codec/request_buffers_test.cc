// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/request_buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace nereid {
namespace {

bool Aligned(const char* place) {
  return reinterpret_cast<uintptr_t>(place) % RequestBuffers::kAlignment == 0;
}

TEST(RequestBuffersTest, TheBudgetPaysForWhatIsAllocated) {
  Budget budget("bytes", 100'000, "--max-bytes");
  RequestBuffers buffers;
  const auto client = std::make_shared<Holder>();
  buffers.ChargeTo(&budget, client);
  ASSERT_NE(buffers.Allocate(500), nullptr);
  EXPECT_EQ(budget.used(), 0u) << "inside of the object";
  ASSERT_NE(buffers.Allocate(20'000), nullptr);
  EXPECT_EQ(budget.used(), 20'032u);
  ASSERT_NE(buffers.Adopt(std::string(10'000, 'x')), nullptr);
  EXPECT_GE(budget.used(), 30'032u);
  EXPECT_TRUE(buffers.refusal().ok());
  EXPECT_EQ(buffers.WhyNothing("a tensor"), absl::UnavailableError("out of memory for a tensor"));

  EXPECT_EQ(buffers.Allocate(60'000), nullptr);
  EXPECT_EQ(buffers.Adopt(std::string(60'000, 'x')), nullptr);
  EXPECT_EQ(buffers.WhyNothing("a tensor"), buffers.refusal());
  EXPECT_NE(buffers.refusal().message().find("--max-bytes"), std::string::npos);
  {
    constexpr uint64_t kLongText = 100'000;
    const auto workspace = buffers.parse_budget().Take(kLongText, 30'000);
    ASSERT_TRUE(workspace.ok());
    EXPECT_GE(budget.used(), 60'032u);
    EXPECT_FALSE(buffers.parse_budget().Take(kLongText, 30'000).ok());
    EXPECT_EQ(client->held(), budget.used());
  }
  buffers.Clear();
  EXPECT_EQ(client->held(), 0u);
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_TRUE(buffers.refusal().ok());
}

TEST(RequestBuffersTest, PlacesAreAlignedAndDistinct) {
  RequestBuffers buffers;
  std::vector<char*> places;
  const size_t sizes[] = {1, 64, 65, 200, 300, 1, 5000, 0};
  for (const size_t size : sizes) {
    char* place = buffers.Allocate(size);
    ASSERT_NE(place, nullptr);
    EXPECT_TRUE(Aligned(place));
    std::memset(place, static_cast<int>(places.size()), size);
    places.push_back(place);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t at = 0; at < sizes[i]; ++at) ASSERT_EQ(places[i][at], static_cast<char>(i));
  }
}

TEST(RequestBuffersTest, ImpossibleSizesAreRefused) {
  RequestBuffers buffers;
  EXPECT_EQ(buffers.Allocate(std::numeric_limits<size_t>::max()), nullptr);
  EXPECT_EQ(buffers.Allocate(std::numeric_limits<size_t>::max() - 62), nullptr);
}

TEST(RequestBuffersTest, AdoptedBytesStay) {
  RequestBuffers buffers;
  std::vector<const char*> kept;
  for (int i = 0; i < 20; ++i) kept.push_back(buffers.Adopt("text " + std::to_string(i)));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(std::string(kept[i]), "text " + std::to_string(i));
}

TEST(RequestBuffersTest, CopiesAreCountedUntilCleared) {
  RequestBuffers buffers;
  const std::string source = "0123456789";
  const char* copy = buffers.CopyAligned(source.data() + 1, 9);
  EXPECT_TRUE(Aligned(copy));
  EXPECT_EQ(std::string(copy, 9), "123456789");
  buffers.CopyAligned(source.data(), 3);
  EXPECT_EQ(buffers.bytes_copied(), 12u);
  buffers.Clear();
  EXPECT_EQ(buffers.bytes_copied(), 0u);
  EXPECT_TRUE(Aligned(buffers.Allocate(512)));
}

}  // namespace
}  // namespace nereid
