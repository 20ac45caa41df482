#include "backends/pytorch/threads.h"

#include <ATen/Parallel.h>

#include <mutex>

// PyTorch has only a setting for the whole process. These two are what it sets, for one thread:
// OpenMP's is the thread's own anyway, and MKL, which is part of libtorch_cpu, has one of its own.
extern "C" void omp_set_num_threads(int count);
extern "C" int MKL_Set_Num_Threads_Local(int count);

namespace nereid_backend {

void UseIntraOpThreads(int count) {
  static thread_local int current = 0;
  if (count == current) return;
  // The first question sets the thread up from the setting of the process.
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
