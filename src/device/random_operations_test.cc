// SPDX-License-Identifier: Apache-2.0
// Random operations on all kinds of memory of two simulated GPUs, against a model: what each piece
// of memory should hold. A million, as four seeds of as many each:
//
//   NEREID_DEVICE_OPERATIONS=250000 device_test --gtest_filter='*RandomOperations*'
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/devices.h"
#include "device/testing/ipc_peer_process.h"
#include "device/testing/simulated_gpus.h"

namespace nereid {
namespace {

constexpr MemoryPlace kHost;
constexpr size_t kPoolBytes = 64 << 10;
constexpr size_t kAddressBytes = 6 << 20;
constexpr size_t kMostHeld = 60;
constexpr size_t kPeerBytes = 13;

int Operations() {
  const char* const asked = std::getenv("NEREID_DEVICE_OPERATIONS");
  return asked == nullptr ? 5'000 : std::atoi(asked);
}

// Memory of any kind, and what it holds. Unknown bytes are '?', and compared with nothing.
struct Held {
  char* base = nullptr;
  MemoryPlace place;
  std::string content;
  std::vector<bool> known;
  std::unique_ptr<GrowableMemory> growable;  // null: of a pool
};

class RandomOperations : public SimulatedGpus, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    SimulatedGpus::SetUp();
    Set("SIMULATED_CUDA_GPUS", "2");
    Set("SIMULATED_CUDA_MB", "64");
    Set("SIMULATED_CUDA_SEED", std::to_string(GetParam()));
    peer_ = std::make_unique<IpcPeer>(state_file_);
    ASSERT_EQ(peer_->handle.size(), sizeof(cuda::IpcHandle));
    DeviceOptions options;
    options.pinned_pool_bytes = kPoolBytes;
    for (const int gpu : {0, 1}) {
      options.gpu_pool_bytes[gpu] = kPoolBytes;
      options.address_bytes[gpu] = kAddressBytes;
    }
    devices_ = Devices::Find(std::move(options), NEREID_SIMULATED_CUDA);
    random_.seed(static_cast<uint32_t>(GetParam()));
  }
  void TearDown() override {
    held_.clear();
    regions_.clear();
    devices_.reset();
    peer_.reset();
    std::remove(state_file_.c_str());
    SimulatedGpus::TearDown();
  }

  size_t Draw(size_t below) { return random_() % below; }
  Held& Any() { return held_[Draw(held_.size())]; }
  std::string Bytes(size_t size) {
    std::string bytes(size, ' ');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }
  // The pools' own count, out of the model.
  size_t UsedOf(const MemoryPlace& place) const {
    size_t used = 0;
    for (const Held& held : held_) {
      if (held.growable != nullptr || held.place != place) continue;
      const size_t size = std::max<size_t>(held.content.size(), 1);
      used += (size + BestFit::kAlignment - 1) / BestFit::kAlignment * BestFit::kAlignment;
    }
    return used;
  }

  void Allocate() {
    MemoryPlace wish{MemoryType::kGpu, static_cast<int64_t>(Draw(2))};
    if (Draw(3) == 0) wish = {MemoryType::kCpuPinned, 0};
    const size_t size = Draw(Draw(10) == 0 ? 2 * kPoolBytes : 5000);
    const auto memory = devices_->Allocate(wish, size);
    if (!memory.has_value()) return;  // both pools are full
    held_.push_back({static_cast<char*>(memory->base), memory->place, std::string(size, '?'),
                     std::vector<bool>(size, false), nullptr});
  }
  void MakeGrowable() {
    const auto gpu = static_cast<int64_t>(Draw(2));
    auto memory = devices_->MakeGrowable(gpu);
    ASSERT_TRUE(memory.ok()) << memory.status();
    held_.push_back({(*memory)->base(), {MemoryType::kGpu, gpu}, "", {}, *std::move(memory)});
  }
  void Grow(Held* held) {
    const size_t size = std::max(Draw(kAddressBytes + 1000), held->content.size());
    const absl::Status grown = held->growable->Resize(size);
    ASSERT_EQ(absl::IsInvalidArgument(grown), size > kAddressBytes) << grown;
    ASSERT_EQ(held->growable->base(), held->base);
    if (!grown.ok()) return;  // also if the GPU is full
    held->content.resize(size, '?');
    held->known.resize(size, false);
  }
  // Devices copies what is on a GPU; between two places of the host anybody can.
  absl::Status Copy(const CopyItem& item) {
    if (CopyingGpu(item) >= 0) return devices_->Copy({item});
    std::memmove(item.to, item.from, item.byte_size);
    return absl::OkStatus();
  }
  void Write(Held* held) {
    if (held->content.empty()) return;
    const size_t offset = Draw(held->content.size());
    const std::string bytes =
        Bytes(Draw(std::min<size_t>(held->content.size() - offset, 5000)) + 1);
    ASSERT_TRUE(Copy({held->base + offset, held->place, bytes.data(), kHost, bytes.size()}).ok());
    Note(held, offset, bytes, std::vector<bool>(bytes.size(), true));
  }
  static void Note(Held* held, size_t offset, const std::string& bytes,
                   const std::vector<bool>& known) {
    held->content.replace(offset, bytes.size(), bytes);
    std::copy(known.begin(), known.end(),
              held->known.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void CopyBetween(const Held& from, Held* to) {
    const size_t size = std::min({from.content.size(), to->content.size(), size_t{20'000}});
    if (&from == to || size == 0) return;
    const size_t at = Draw(from.content.size() - size + 1);
    ASSERT_TRUE(Copy({to->base, to->place, from.base + at, from.place, size}).ok());
    const auto begin = from.known.begin() + static_cast<std::ptrdiff_t>(at);
    Note(to, 0, from.content.substr(at, size), {begin, begin + static_cast<std::ptrdiff_t>(size)});
  }
  void Check(const Held& held) {
    const size_t size = std::min<size_t>(held.content.size(), 20'000);
    const size_t at = Draw(held.content.size() - size + 1);
    std::string found(size, '?');
    ASSERT_TRUE(Copy({found.data(), kHost, held.base + at, held.place, size}).ok());
    for (size_t i = 0; i < size; ++i) {
      ASSERT_TRUE(!held.known[at + i] || found[i] == held.content[at + i]);
    }
  }
  void Drop(size_t index) {
    std::swap(held_[index], held_.back());
    const Held& held = held_.back();
    if (held.growable == nullptr) devices_->Free({held.base, held.place});
    held_.pop_back();
  }

  // ---- Regions of the other process, all of which are the same memory.
  void Open() {
    auto region = devices_->OpenRegion(0, peer_->handle);
    ASSERT_TRUE(region.ok()) << region.status();
    regions_.push_back(*std::move(region));
    ASSERT_EQ(regions_.back()->base(), regions_.front()->base());
  }
  void WriteRegion() {
    peer_content_ = Bytes(kPeerBytes);
    ASSERT_TRUE(Copy({Shared(), kShared, peer_content_.data(), kHost, kPeerBytes}).ok());
  }
  void CheckRegion() {
    std::string found(kPeerBytes, '?');
    ASSERT_TRUE(Copy({found.data(), kHost, Shared(), kShared, kPeerBytes}).ok());
    ASSERT_EQ(found, peer_content_);
  }
  char* Shared() { return regions_[Draw(regions_.size())]->base() + peer_->offset; }
  void DoWithRegions() {
    const size_t choice = Draw(6);
    if (regions_.empty() || (choice == 0 && regions_.size() < 5)) {
      Open();
    } else if (choice < 3) {
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(Draw(regions_.size())));
    } else if (choice == 3) {
      WriteRegion();
    } else {
      CheckRegion();
    }
  }
  void DoWithMemory() {
    const size_t choice = Draw(12);
    Held& held = Any();
    if (choice < 2) {
      Drop(Draw(held_.size()));
    } else if (choice < 5) {
      Check(held);
    } else if (choice < 8) {
      CopyBetween(Any(), &held);
    } else if (held.growable != nullptr && choice == 8) {
      Grow(&held);
    } else {
      Write(&held);
    }
  }
  void DoOne() {
    const size_t choice = Draw(100);
    if (choice < 15) {
      DoWithRegions();
    } else if (held_.empty() || (choice < 35 && held_.size() < kMostHeld)) {
      if (choice == 34) return MakeGrowable();
      Allocate();
    } else {
      DoWithMemory();
    }
  }

  static constexpr MemoryPlace kShared = {MemoryType::kGpu, 0};
  const std::string state_file_ = testing::TempDir() + "random_peer_" + std::to_string(getpid());
  std::unique_ptr<IpcPeer> peer_;
  std::string peer_content_ = "from the peer";
  std::unique_ptr<Devices> devices_;
  std::vector<Held> held_;
  std::vector<std::shared_ptr<const IpcRegion>> regions_;
  std::mt19937 random_;
};

TEST_P(RandomOperations, AgreeWithAModel) {
  for (int step = 0; step < Operations() && !HasFatalFailure(); ++step) {
    DoOne();
    if (step % 100 != 0) continue;
    for (const int gpu : {0, 1}) {
      ASSERT_EQ(devices_->gpu_pool(gpu)->used(), UsedOf({MemoryType::kGpu, gpu}));
    }
    ASSERT_EQ(devices_->pinned_pool()->used(), UsedOf({MemoryType::kCpuPinned, 0}));
  }
  while (!held_.empty()) Drop(held_.size() - 1);
  EXPECT_EQ(devices_->gpu_pool(0)->used() + devices_->gpu_pool(1)->used(), 0u);
  EXPECT_EQ(devices_->pinned_pool()->used(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperations, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace nereid
