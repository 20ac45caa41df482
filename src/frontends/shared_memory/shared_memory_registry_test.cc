// SPDX-License-Identifier: Apache-2.0
#include "frontends/shared_memory/shared_memory_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "frontends/shared_memory/testing/test_segment.h"

namespace nereid {
namespace {

using ::testing::StartsWith;

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

class SharedMemoryRegistryTest : public ::testing::Test {
 protected:
  absl::Status Register(const std::string& name, uint64_t offset, uint64_t byte_size) {
    return registry_.Register({name, segment_.key(), offset, byte_size});
  }

  void ExpectRefused(const SharedMemoryRegion& region, const std::string& text) {
    const absl::Status status = registry_.Register(region);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), StartsWith(text));
    EXPECT_EQ(registry_.Find({region.name, 0, 1}).status().code(), absl::StatusCode::kNotFound);
  }

  TestSegment segment_{"registry", 1000};
  SharedMemoryRegistry registry_{true};
};

TEST_F(SharedMemoryRegistryTest, FindsBytesOfARegion) {
  ASSERT_TRUE(Register("r", 100, 900).ok());
  std::memcpy(segment_.data() + 150, "tensor", 6);
  const auto slice = registry_.Find({"r", 50, 850});
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_EQ(std::string(slice->data, 6), "tensor");
  EXPECT_EQ(slice->byte_size, 850u);
  EXPECT_TRUE(registry_.Find({"r", 899, 1}).ok());
  EXPECT_TRUE(registry_.Find({"r", 899, 0}).ok());
}

TEST_F(SharedMemoryRegistryTest, NothingOutsideARegionIsFound) {
  ASSERT_TRUE(Register("r", 100, 800).ok());
  const auto message = [&](uint64_t offset, uint64_t byte_size) {
    const absl::Status status = registry_.Find({"r", offset, byte_size}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(message(800, 0), "Invalid offset for shared memory region: 'r'");
  EXPECT_EQ(message(kMax, 1), "Invalid offset for shared memory region: 'r'");
  EXPECT_EQ(message(0, 801), "Invalid offset + byte size for shared memory region: 'r'");
  EXPECT_EQ(message(799, 2), "Invalid offset + byte size for shared memory region: 'r'");
  EXPECT_EQ(message(799, kMax),
            "Integer overflow detected: byte_size (18446744073709551615) + offset (799) exceeds "
            "maximum value (18446744073709551615) for region 'r'");
  EXPECT_EQ(registry_.Find({"other", 0, 1}).status().message(),
            "Unable to find shared memory region: 'other'");
}

TEST_F(SharedMemoryRegistryTest, RegionsThatCannotBe) {
  const std::string key = segment_.key();
  ExpectRefused({"r", "", 0, 1}, "cannot register shared memory region 'r' - invalid shm key ''");
  ExpectRefused({"r", "///", 0, 1},
                "cannot register shared memory region 'r' - invalid shm key '///'");
  ExpectRefused({"r", "/triton_python_backend_shm_region_1", 0, 1},
                "cannot register shared memory region 'r' with key "
                "'/triton_python_backend_shm_region_1' as the key contains the reserved prefix "
                "'triton_python_backend_shm_region_'");
  const std::string invalid = "failed to register shared memory region 'r': invalid args";
  ExpectRefused({"r", key, 0, 0}, invalid);
  ExpectRefused({"r", key, 0, 1001}, invalid);
  ExpectRefused({"r", key, 1000, 1}, invalid);
  ExpectRefused({"r", key, kMax, 1}, "Integer overflow detected: byte_size (1) + offset (");
  ExpectRefused({std::string(SharedMemoryRegistry::kMaxNameBytes + 1, 'n'), key, 0, 1},
                "the name of a shared memory region may have 1024 bytes, not 1025");
  EXPECT_EQ(registry_.Register({"r", "/nereid-test-absent", 0, 1}).code(),
            absl::StatusCode::kInternal);
}

TEST_F(SharedMemoryRegistryTest, NamesAndKeysArePlainText) {
  for (const std::string& bad : {std::string("a\0b", 3), std::string("a\x1b[31m"),
                                 std::string("a\nb"), std::string("a\x7f"), std::string("a\xff")}) {
    ExpectRefused({bad, segment_.key(), 0, 100}, "invalid shared memory region 'a\\x");
    // A NUL would cut the key, and open another segment.
    ExpectRefused({"r", segment_.key() + bad, 0, 100}, "invalid shared memory key '");
  }
  ExpectRefused({"r", std::string(1025, 'k'), 0, 100}, "invalid shared memory key 'kkk");
}

TEST_F(SharedMemoryRegistryTest, ANameIsTakenOnce) {
  ASSERT_TRUE(Register("r", 0, 10).ok());
  const absl::Status again = Register("r", 0, 10);
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(again.message(), "shared memory region 'r' already in manager");
  ASSERT_TRUE(registry_.Unregister("r").ok());
  EXPECT_TRUE(Register("r", 0, 10).ok());
}

TEST_F(SharedMemoryRegistryTest, DescribesRegionsByName) {
  ASSERT_TRUE(Register("b", 1, 2).ok());
  ASSERT_TRUE(Register("a", 3, 4).ok());
  const auto all = registry_.Regions("");
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, "a");
  EXPECT_EQ((*all)[0].key, segment_.key());
  EXPECT_EQ((*all)[0].offset, 3u);
  EXPECT_EQ((*all)[1].byte_size, 2u);
  ASSERT_TRUE(registry_.Regions("b").ok());
  EXPECT_EQ(registry_.Regions("b")->size(), 1u);
  const absl::Status unknown = registry_.Regions("c").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(unknown.message(), "Unable to find system shared memory region: 'c'");
}

TEST_F(SharedMemoryRegistryTest, ForgetsOneOrAll) {
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(Register(name, 0, 10).ok());
  EXPECT_TRUE(registry_.Unregister("unknown").ok());
  EXPECT_TRUE(registry_.Unregister("b").ok());
  EXPECT_EQ(registry_.Regions("")->size(), 2u);
  EXPECT_TRUE(registry_.Unregister("").ok());
  EXPECT_TRUE(registry_.Regions("")->empty());
}

TEST_F(SharedMemoryRegistryTest, ARegionInUseIsListedUntilItsLastUseEnds) {
  for (const char* name : {"a", "b"}) ASSERT_TRUE(Register(name, 0, 10).ok());
  std::optional<SharedMemorySlice> first = *registry_.Find({"a", 0, 10});
  ASSERT_TRUE(registry_.Unregister("").ok());
  EXPECT_EQ(registry_.Regions("")->size(), 1u) << "b is not in use";
  EXPECT_TRUE(registry_.Regions("a").ok());
  EXPECT_FALSE(registry_.Find({"b", 0, 10}).ok());
  std::optional<SharedMemorySlice> second = *registry_.Find({"a", 0, 10});
  ASSERT_TRUE(registry_.Unregister("a").ok()) << "again";
  first.reset();
  EXPECT_TRUE(registry_.Regions("a").ok()) << "the second request uses it";
  second.reset();
  EXPECT_TRUE(registry_.Regions("")->empty());
  EXPECT_EQ(registry_.Regions("a").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(registry_.Find({"a", 0, 10}).ok());
}

TEST_F(SharedMemoryRegistryTest, ARegionThatWasUnregisteredInUseMayBeRegisteredAnew) {
  ASSERT_TRUE(Register("r", 0, 10).ok());
  const auto old = registry_.Find({"r", 0, 10});
  ASSERT_TRUE(registry_.Unregister("r").ok());
  ASSERT_TRUE(Register("r", 0, 20).ok());
  EXPECT_EQ(registry_.Regions("r")->at(0).byte_size, 20u);
  EXPECT_TRUE(registry_.Find({"r", 0, 20}).ok());
  EXPECT_EQ(Register("r", 0, 20).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(SharedMemoryRegistryTest, BytesInUseStayMapped) {
  ASSERT_TRUE(Register("r", 0, 1000).ok());
  segment_.data()[999] = 'u';
  const auto slice = registry_.Find({"r", 0, 1000});
  ASSERT_TRUE(slice.ok());
  ASSERT_TRUE(registry_.Unregister("").ok());
  EXPECT_EQ(slice->data[999], 'u');
}

TEST_F(SharedMemoryRegistryTest, ATruncatedSegmentIsRefused) {
  ASSERT_TRUE(Register("r", 0, 1000).ok());
  segment_.Resize(999);
  const absl::Status status = registry_.Find({"r", 0, 1}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("the segment of shared memory region 'r' was truncated"));
}

TEST_F(SharedMemoryRegistryTest, ThereIsNoCuda) {
  ASSERT_TRUE(Register("r", 0, 10).ok());
  EXPECT_EQ(registry_.CudaRegions("r").status().message(),
            "The region named 'r' is registered as system shared memory, not CUDA shared memory");
  EXPECT_EQ(registry_.CudaRegions("s").status().message(),
            "Unable to find cuda shared memory region: 's'");
  EXPECT_TRUE(registry_.CudaRegions("")->empty());
  const absl::Status none = absl::InvalidArgumentError(
      "failed to register CUDA shared memory region: 's', GPUs not supported");
  EXPECT_EQ(registry_.CheckCuda("s"), none);
  EXPECT_EQ(registry_.RegisterCuda({"s", 0, 10}, std::string(64, 'h')), none);
  EXPECT_TRUE(registry_.UnregisterCuda("").ok());
  EXPECT_TRUE(registry_.Find({"r", 0, 1}).ok());
}

TEST_F(SharedMemoryRegistryTest, OnlyIfClientsMay) {
  SharedMemoryRegistry closed(false);
  const absl::Status status = closed.Register({"r", segment_.key(), 0, 10});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to "
            "enable.");
  EXPECT_EQ(closed.Unregister("").code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(closed.Regions("")->empty());
}

TEST_F(SharedMemoryRegistryTest, ManyThreadsRegisterUseAndForget) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (int round = 0; round < 500; ++round) {
        const std::string name = i % 2 == 0 ? "shared" : std::to_string(i);
        (void)Register(name, 0, 1000);
        if (const auto slice = registry_.Find({name, 10, 10}); slice.ok()) slice->data[i] = 'w';
        (void)registry_.Unregister(name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(registry_.Regions("")->empty());
}

}  // namespace
}  // namespace nereid
