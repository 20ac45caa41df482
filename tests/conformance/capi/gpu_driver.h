// SPDX-License-Identifier: Apache-2.0
// Driver: the simulated driver in a test's process, as an application uses it. The server finds the
// same one, because a library of that name is loaded already. Thread-safe.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_GPU_DRIVER_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_GPU_DRIVER_H_

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "src/device/cuda_abi.h"
#include "tests/support/simulated_cuda/state.h"

namespace nereid_test {

class Driver {
 public:
  // On a machine with that many GPUs.
  explicit Driver(int gpus) : contexts_(static_cast<size_t>(gpus)) {
    setenv("SIMULATED_CUDA_GPUS", std::to_string(gpus).c_str(), 1);
    EXPECT_EQ(Call<int(unsigned)>("cuInit", 0u), 0);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      auto* const context = &contexts_[static_cast<size_t>(gpu)];
      EXPECT_EQ((Call<int(Context*, int)>("cuDevicePrimaryCtxRetain", context, gpu)), 0);
    }
  }
  ~Driver() {
    for (size_t gpu = 0; gpu < contexts_.size(); ++gpu) {
      EXPECT_EQ(Call<int(int)>("cuDevicePrimaryCtxRelease_v2", static_cast<int>(gpu)), 0);
    }
  }

  // Memory of GPU 0.
  void* Allocate(size_t byte_size) {
    Pointer address = 0;
    Push();
    EXPECT_EQ((Call<int(Pointer*, size_t)>("cuMemAlloc_v2", &address, byte_size)), 0);
    Pop();
    return reinterpret_cast<void*>(address);
  }
  void Free(void* memory) {
    Push();
    EXPECT_EQ(Call<int(Pointer)>("cuMemFree_v2", AddressOf(memory)), 0);
    Pop();
  }
  // From or to memory of GPU 0. Returns when it is done.
  void Copy(void* to, const void* from, size_t byte_size) {
    Push();
    nereid::cuda::Stream stream = nullptr;
    EXPECT_EQ((Call<int(nereid::cuda::Stream*, unsigned, int)>("cuStreamCreateWithPriority",
                                                               &stream, 1u, 0)),
              0);
    EXPECT_EQ((Call<int(Pointer, Pointer, size_t, nereid::cuda::Stream)>(
                  "cuMemcpyAsync", AddressOf(to), AddressOf(from), byte_size, stream)),
              0);
    EXPECT_EQ(Call<int(nereid::cuda::Stream)>("cuStreamSynchronize", stream), 0);
    EXPECT_EQ(Call<int(nereid::cuda::Stream)>("cuStreamDestroy_v2", stream), 0);
    Pop();
  }

  static SimulatedCudaState State() {
    SimulatedCudaState state = {};
    Call<void(SimulatedCudaState*)>("SimulatedCudaReadState", &state);
    return state;
  }

 private:
  using Context = nereid::cuda::Context;
  using Pointer = nereid::cuda::Pointer;

  static Pointer AddressOf(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }
  template <typename Signature, typename... Arguments>
  static std::invoke_result_t<Signature*, Arguments...> Call(const char* name,
                                                             Arguments... arguments) {
    static void* const library = dlopen(NEREID_SIMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Signature*>(dlsym(library, name))(arguments...);
  }
  void Push() { EXPECT_EQ(Call<int(Context)>("cuCtxPushCurrent_v2", contexts_[0]), 0); }
  static void Pop() {
    Context popped = nullptr;
    EXPECT_EQ(Call<int(Context*)>("cuCtxPopCurrent_v2", &popped), 0);
  }

  std::vector<Context> contexts_;
};

}  // namespace nereid_test

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_GPU_DRIVER_H_
