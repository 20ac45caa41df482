// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "device/memory_pool.h"
#include "device/testing/simulated_gpus.h"

namespace nereid {
namespace {

constexpr size_t kPoolSize = 1 << 20;

class StreamTest : public SimulatedGpus {
 protected:
  // A pool on each GPU and a pinned one.
  void StartWithPools() {
    Gpus& gpus = Start();
    for (size_t id = 0; id < gpus.size(); ++id) {
      on_gpu_.push_back(MemoryPool::OnGpu(gpus.Get(static_cast<int64_t>(id)), kPoolSize));
    }
    pinned_ = MemoryPool::Pinned(&gpus, kPoolSize);
    gpu_ = gpus.Get(0);
  }
  void TearDown() override {
    on_gpu_.clear();
    pinned_.reset();
    SimulatedGpus::TearDown();
  }
  char* OnGpu(size_t size, size_t id = 0) {
    return static_cast<char*>(on_gpu_[id]->Allocate(size).value());
  }
  char* Pinned(const std::string& content) {
    char* bytes = static_cast<char*>(pinned_->Allocate(content.size()).value());
    std::memcpy(bytes, content.data(), content.size());
    return bytes;
  }

  std::vector<std::unique_ptr<MemoryPool>> on_gpu_;
  std::unique_ptr<MemoryPool> pinned_;
  Gpu* gpu_ = nullptr;
};

TEST_F(StreamTest, CopiesComeInOrderAndAreDoneAfterAWait) {
  StartWithPools();
  char *in = Pinned("some bytes"), *out = Pinned("----------");
  char *there = OnGpu(10), *elsewhere = OnGpu(10);
  const auto stream = NewStream(gpu_);
  const MemoryPlace gpu = {MemoryType::kGpu, 0};
  const CopyItem items[] = {ToGpu(there, in, 10),
                            {elsewhere, gpu, there, gpu, 10},
                            FromGpu(out, elsewhere, 10),
                            FromGpu(out, elsewhere, 0)};
  ASSERT_TRUE(stream->Copy(items).ok());
  EXPECT_EQ(std::string(out, 10), std::string(10, '\xA5')) << "not waited for";
  EXPECT_FALSE(stream->IsDone().value());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_TRUE(stream->IsDone().value());
  EXPECT_EQ(std::string(out, 10), "some bytes");
  for (const CopyWay way : {CopyWay::kToDevice, CopyWay::kWithinDevice, CopyWay::kFromDevice}) {
    EXPECT_EQ(gpu_->copies(way), 1u);
    EXPECT_EQ(gpu_->copied_bytes(way), 10u);
  }
  EXPECT_EQ(gpu_->copies(CopyWay::kOnHost) + gpu_->copies(CopyWay::kBetweenDevices), 0u);
}

TEST_F(StreamTest, MemoryOfTheHostThatIsNotPinnedNeedsNoWait) {
  StartWithPools();
  std::string in = "some bytes", out(10, '-');
  char* there = OnGpu(10);
  const auto stream = NewStream(gpu_);
  const CopyItem to = {there, {MemoryType::kGpu, 0}, in.data(), {}, 10};
  ASSERT_TRUE(stream->Copy({&to, 1}).ok());
  in = "other data";
  const CopyItem from = {out.data(), {}, there, {MemoryType::kGpu, 0}, 10};
  ASSERT_TRUE(stream->Copy({&from, 1}).ok());
  EXPECT_EQ(out, "some bytes");
}

TEST_F(StreamTest, TheProcessorCannotReachMemoryOfAGpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  StartWithPools();
  volatile char* there = OnGpu(10);
  EXPECT_DEATH(there[0] = there[1], "");
}

TEST_F(StreamTest, APlaceOutsideOfItsMemoryIsRefused) {
  StartWithPools();
  char* in = Pinned("some bytes");
  char* there = OnGpu(256);
  const auto stream = NewStream(gpu_);
  const CopyItem items[] = {ToGpu(there, in, 10), ToGpu(there + kPoolSize - 5, in, 10)};
  EXPECT_EQ(stream->Copy(items), absl::InvalidArgumentError("GPU 0 cannot copy: invalid argument "
                                                            "(CUDA_ERROR_INVALID_VALUE)"));
  EXPECT_EQ(gpu_->copies(CopyWay::kToDevice), 1u) << "the first is on its way";
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(State().copies, 1u);
}

TEST_F(StreamTest, AnEventIsAPointOfAStream) {
  StartWithPools();
  char *in = Pinned("some bytes"), *out = Pinned("----------");
  char* there = OnGpu(10);
  const auto first = NewStream(gpu_), second = NewStream(gpu_);
  const auto arrived = Event::Create(gpu_).value(), done = Event::Create(gpu_).value();
  EXPECT_TRUE(arrived->IsDone().value());
  EXPECT_TRUE(arrived->Synchronize().ok()) << "nothing was recorded";
  const CopyItem to = ToGpu(there, in, 10), from = FromGpu(out, there, 10);
  ASSERT_TRUE(first->Copy({&to, 1}).ok());
  ASSERT_TRUE(first->Record(arrived.get()).ok());
  ASSERT_TRUE(second->WaitFor(*arrived).ok());
  ASSERT_TRUE(second->Copy({&from, 1}).ok());
  ASSERT_TRUE(second->Record(done.get()).ok());
  EXPECT_FALSE(done->IsDone().value());
  EXPECT_EQ(State().waits, 1u);
  ASSERT_TRUE(done->Synchronize().ok());
  EXPECT_EQ(std::string(out, 10), "some bytes");
  EXPECT_TRUE(arrived->IsDone().value());
  // A copy of ten bytes takes 1,001 ns in simulated time.
  EXPECT_EQ(done->Since(*arrived).value(), std::chrono::nanoseconds(1001));
  EXPECT_EQ(State().waits, 2u);
}

TEST_F(StreamTest, TheTimeOfAnEventThatHasNotBeenRecordedIsAnError) {
  StartWithPools();
  const auto never = Event::Create(gpu_).value(), again = Event::Create(gpu_).value();
  EXPECT_EQ(again->Since(*never).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(StreamTest, WaitsForAnEventOfAnotherGpu) {
  Set("SIMULATED_CUDA_GPUS", "2");
  StartWithPools();
  Gpu* const other = gpus().Get(1);
  char *in = Pinned("some bytes"), *out = Pinned("----------");
  char *there = OnGpu(10, 0), *elsewhere = OnGpu(10, 1);
  const auto first = NewStream(gpu_), second = NewStream(other);
  EXPECT_EQ(second->gpu(), other);
  const auto arrived = Event::Create(gpu_).value();
  const CopyItem to = ToGpu(there, in, 10);
  ASSERT_TRUE(first->Copy({&to, 1}).ok());
  ASSERT_TRUE(first->Record(arrived.get()).ok());
  EXPECT_EQ(second->Record(arrived.get()).code(), absl::StatusCode::kInvalidArgument)
      << "an event belongs to one GPU";
  ASSERT_TRUE(second->WaitFor(*arrived).ok());
  const CopyItem items[] = {{elsewhere, {MemoryType::kGpu, 1}, there, {MemoryType::kGpu, 0}, 10},
                            FromGpu(out, elsewhere, 10, 1)};
  ASSERT_TRUE(second->Copy(items).ok());
  ASSERT_TRUE(second->Synchronize().ok());
  EXPECT_EQ(std::string(out, 10), "some bytes");
  EXPECT_EQ(other->copied_bytes(CopyWay::kBetweenDevices), 10u);
}

TEST_F(StreamTest, AnErrorOfACopyComesWithTheWaitAndStays) {
  Set("SIMULATED_CUDA_FAULTS", "copy:2:700");
  StartWithPools();
  char* in = Pinned("some bytes");
  char* there = OnGpu(10);
  const auto stream = NewStream(gpu_);
  const CopyItem items[] = {ToGpu(there, in, 10), ToGpu(there, in, 10), ToGpu(there, in, 10)};
  ASSERT_TRUE(stream->Copy(items).ok());
  const absl::Status status = stream->Synchronize();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), testing::HasSubstr("an illegal memory access was encountered"));
  EXPECT_EQ(State().copies, 1u);
  EXPECT_EQ(stream->Copy(items), status);
  EXPECT_EQ(stream->IsDone().status(), status);
  EXPECT_EQ(Event::Create(gpu_).status(), status);
  EXPECT_EQ(Stream::Create(gpu_, Stream::Priority::kUrgent).status(), status);
}

// Buffers on two GPUs against their contents: whatever of the work the driver does early, what has
// been waited for is right.
class RandomTest : public StreamTest, public testing::WithParamInterface<int> {
 protected:
  struct Buffer {
    size_t gpu = 0;
    char* bytes = nullptr;
    std::string content;
  };

  void StartStreams() {
    Set("SIMULATED_CUDA_GPUS", "2");
    Set("SIMULATED_CUDA_SEED", std::to_string(GetParam()));
    StartWithPools();
    for (int64_t id : {0, 1}) streams_.push_back(NewStream(gpus().Get(id)));
    random_.seed(static_cast<uint32_t>(GetParam()));
  }
  void TearDown() override {
    streams_.clear();
    StreamTest::TearDown();
  }

  // The other GPU's stream goes on when this one's is done so far.
  void Order(size_t first, size_t second) {
    const auto event = Event::Create(streams_[first]->gpu()).value();
    ASSERT_TRUE(streams_[first]->Record(event.get()).ok());
    ASSERT_TRUE(streams_[second]->WaitFor(*event).ok());
  }
  void Make() {
    Buffer buffer = {random_() % 2, nullptr, std::string(1 + random_() % 5000, ' ')};
    for (char& byte : buffer.content) byte = static_cast<char>(random_());
    buffer.bytes = OnGpu(buffer.content.size(), buffer.gpu);
    char* const from = Pinned(buffer.content);
    const CopyItem item = ToGpu(buffer.bytes, from, buffer.content.size(), Id(buffer));
    ASSERT_TRUE(streams_[buffer.gpu]->Copy({&item, 1}).ok());
    ASSERT_TRUE(streams_[buffer.gpu]->Synchronize().ok());
    ASSERT_TRUE(pinned_->Free(from).ok());
    buffers_.push_back(buffer);
  }
  void CopyBetween() {
    Buffer& to = buffers_[random_() % buffers_.size()];
    const Buffer& from = buffers_[random_() % buffers_.size()];
    if (&to == &from) return;
    const size_t size = std::min(to.content.size(), from.content.size());
    if (to.gpu != from.gpu) Order(from.gpu, to.gpu);
    const CopyItem item = {
        to.bytes, {MemoryType::kGpu, Id(to)}, from.bytes, {MemoryType::kGpu, Id(from)}, size};
    ASSERT_TRUE(streams_[to.gpu]->Copy({&item, 1}).ok());
    if (to.gpu != from.gpu) Order(to.gpu, from.gpu);
    to.content.replace(0, size, from.content, 0, size);
  }
  void Check() {
    const Buffer& buffer = buffers_[random_() % buffers_.size()];
    char* const out = Pinned(std::string(buffer.content.size(), ' '));
    const CopyItem item = FromGpu(out, buffer.bytes, buffer.content.size(), Id(buffer));
    ASSERT_TRUE(streams_[buffer.gpu]->Copy({&item, 1}).ok());
    ASSERT_TRUE(streams_[buffer.gpu]->Synchronize().ok());
    ASSERT_EQ(std::string(out, buffer.content.size()), buffer.content);
    ASSERT_TRUE(pinned_->Free(out).ok());
  }
  void Drop() {
    std::swap(buffers_[random_() % buffers_.size()], buffers_.back());
    for (const auto& stream : streams_) ASSERT_TRUE(stream->Synchronize().ok());
    ASSERT_TRUE(on_gpu_[buffers_.back().gpu]->Free(buffers_.back().bytes).ok());
    buffers_.pop_back();
  }
  static int64_t Id(const Buffer& buffer) { return static_cast<int64_t>(buffer.gpu); }

  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Buffer> buffers_;
  std::mt19937 random_;
};

TEST_P(RandomTest, WhatHasBeenWaitedForIsRight) {
  StartStreams();
  for (int step = 0; step < 5000 && !HasFatalFailure(); ++step) {
    const uint32_t choice = random_() % 10;
    if (buffers_.size() < 2 || (choice == 0 && buffers_.size() < 40)) {
      Make();
    } else if (choice == 1) {
      Drop();
    } else if (choice < 4) {
      Check();
    } else {
      CopyBetween();
    }
  }
  EXPECT_EQ(pinned_->used(), 0u);
  while (!buffers_.empty()) Drop();
  EXPECT_EQ(on_gpu_[0]->used() + on_gpu_[1]->used(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, testing::Range(0, 20));

TEST(CopyWayTest, IsThatOfThePlaces) {
  const MemoryPlace host, pinned = {MemoryType::kCpuPinned, 0}, zero = {MemoryType::kGpu, 0},
                          one = {MemoryType::kGpu, 1};
  EXPECT_EQ(WayOf({nullptr, host, nullptr, pinned, 1}), CopyWay::kOnHost);
  EXPECT_EQ(WayOf({nullptr, zero, nullptr, pinned, 1}), CopyWay::kToDevice);
  EXPECT_EQ(WayOf({nullptr, host, nullptr, one, 1}), CopyWay::kFromDevice);
  EXPECT_EQ(WayOf({nullptr, one, nullptr, one, 1}), CopyWay::kWithinDevice);
  EXPECT_EQ(WayOf({nullptr, one, nullptr, zero, 1}), CopyWay::kBetweenDevices);
}

}  // namespace
}  // namespace nereid
