// SPDX-License-Identifier: Apache-2.0
// A test on simulated GPUs. At its end nothing may be left on them. Used by one thread.
#ifndef NEREID_DEVICE_TESTING_SIMULATED_GPUS_H_
#define NEREID_DEVICE_TESTING_SIMULATED_GPUS_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/shared_library.h"
#include "device/gpus.h"
#include "device/stream.h"
#include "tests/support/simulated_cuda/state.h"

namespace nereid {

class SimulatedGpus : public testing::Test {
 protected:
  void SetUp() override {
    auto library = SharedLibrary::Open(NEREID_SIMULATED_CUDA);
    ASSERT_TRUE(library.ok()) << library.status();
    library_ = *std::move(library);
  }

  void TearDown() override {
    gpus_.reset();
    for (const std::string& name : set_) unsetenv(name.c_str());
    const SimulatedCudaState state = State();
    EXPECT_EQ(state.contexts, 0u);
    EXPECT_EQ(state.device_blocks, 0u);
    EXPECT_EQ(state.device_bytes, 0u);
    EXPECT_EQ(state.host_blocks, 0u);
    EXPECT_EQ(state.opened_regions, 0u);
    EXPECT_EQ(state.reservations, 0u);
    EXPECT_EQ(state.memory_blocks, 0u);
    EXPECT_EQ(state.streams, 0u);
    EXPECT_EQ(state.events, 0u);
    EXPECT_EQ(state.waiting_copies, 0u);
    EXPECT_EQ(state.early_frees, 0u);
  }

  // A variable of the simulator's, before Start.
  void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }

  Gpus& Start() {
    gpus_ = Gpus::Find(NEREID_SIMULATED_CUDA);
    return *gpus_;
  }

  Gpus& gpus() { return *gpus_; }

  SimulatedCudaState State() const {
    SimulatedCudaState state = {};
    library_->Function<void (*)(SimulatedCudaState*)>("SimulatedCudaReadState")(&state);
    return state;
  }

 private:
  std::unique_ptr<SharedLibrary> library_;
  std::unique_ptr<Gpus> gpus_;
  std::vector<std::string> set_;
};

inline std::unique_ptr<Stream> NewStream(Gpu* gpu) {
  auto stream = Stream::Create(gpu, Stream::Priority::kUsual);
  EXPECT_TRUE(stream.ok()) << stream.status();
  return *std::move(stream);
}

inline CopyItem ToGpu(void* to, const void* from, size_t byte_size, int64_t id = 0) {
  return {to, {MemoryType::kGpu, id}, from, {MemoryType::kCpuPinned, 0}, byte_size};
}

inline CopyItem FromGpu(void* to, const void* from, size_t byte_size, int64_t id = 0) {
  return {to, {MemoryType::kCpuPinned, 0}, from, {MemoryType::kGpu, id}, byte_size};
}

}  // namespace nereid

#endif  // NEREID_DEVICE_TESTING_SIMULATED_GPUS_H_
