// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/threads.h"

#include <ATen/Parallel.h>

#include <mutex>

// PyTorch's own function sets the number of threads for the whole process. It calls these two,
// which also work per thread: OpenMP's setting is per thread, and MKL (part of libtorch_cpu) has
// this function for it.
extern "C" void omp_set_num_threads(int count);
extern "C" int MKL_Set_Num_Threads_Local(int count);

namespace nereid_backend {

void UseIntraOpThreads(int count) {
  static thread_local int current = 0;
  if (count == current) return;
  // The first query of a thread applies the process's setting to it. Done now, so that a later
  // query does not overwrite ours.
  if (current == 0) at::get_num_threads();
  omp_set_num_threads(count);
  MKL_Set_Num_Threads_Local(count);
  current = count;
}

void SetUpThreads() { at::set_num_threads(1); }

int SetInterOpThreads(int count) {
  static std::once_flag once;
  std::call_once(once, [count] { at::set_num_interop_threads(count); });
  return at::get_num_interop_threads();
}

}  // namespace nereid_backend
