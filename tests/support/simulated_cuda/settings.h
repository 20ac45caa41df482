// SPDX-License-Identifier: Apache-2.0
// What a test sets of the simulated driver, in the environment (README.md). Immutable.
#ifndef NEREID_TESTS_SUPPORT_SIMULATED_CUDA_SETTINGS_H_
#define NEREID_TESTS_SUPPORT_SIMULATED_CUDA_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda_abi.h"

namespace nereid::simulated_cuda {

// The `nth` call of `function`, counted from 1, gives `result`. "copy" means the copies themselves,
// and "copy@1" those of GPU 1.
struct Fault {
  std::string function;
  uint64_t nth = 0;
  cuda::Result result = cuda::kSuccess;
};

struct Settings {
  std::vector<int> visible;  // the machine's GPUs that the process sees, in their order
  size_t bytes_per_gpu = 0;
  int capability_major = 0;
  int capability_minor = 0;
  uint32_t seed = 0;  // 0: copies come as late as they can
  cuda::Result init_result = cuda::kSuccess;
  std::vector<Fault> faults;
  unsigned wait_us = 0;  // each wait takes at least this long
};

// Reads the environment. Ends the process if it holds what cannot be read: a test would test
// nothing.
Settings ReadSettings();

// The machine's GPU `number` as driver and management library know it.
std::string BusIdOf(int number);
cuda::Uuid UuidOf(int number);

}  // namespace nereid::simulated_cuda

#endif  // NEREID_TESTS_SUPPORT_SIMULATED_CUDA_SETTINGS_H_
