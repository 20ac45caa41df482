// SPDX-License-Identifier: Apache-2.0
// Measures the cost of an operator delete that ignores the size: jemalloc's sized delete against
// the program's, in one run. Both pairs of operators are called through pointers, as across
// libraries.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <new>

namespace nereid {
namespace {

constexpr size_t kBlocks = 64;

struct Operators {
  void* (*make)(size_t);
  void (*sized_delete)(void*, size_t);
};

// The operators of a loaded library or, for null, of the program.
Operators OperatorsOf(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return {reinterpret_cast<void* (*)(size_t)>(dlsym(handle, "_Znwm")),
          reinterpret_cast<void (*)(void*, size_t)>(dlsym(handle, "_ZdlPvm"))};
}

// Allocates kBlocks blocks, then frees them. One item is one block.
void BM_NewAndSizedDelete(benchmark::State& state, const char* library) {
  const Operators use = OperatorsOf(library);
  const auto size = static_cast<size_t>(state.range(0));
  if (use.make == nullptr || use.sized_delete == nullptr) {
    state.SkipWithError("no such operators");
    return;
  }
  std::array<void*, kBlocks> blocks;
  for (auto _ : state) {
    for (void*& block : blocks) block = use.make(size);
    benchmark::DoNotOptimize(blocks);
    for (void* const block : blocks) use.sized_delete(block, size);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBlocks));
}
BENCHMARK_CAPTURE(BM_NewAndSizedDelete, jemalloc, "libjemalloc.so.2")
    ->Arg(24)
    ->Arg(200)
    ->Arg(2000)
    ->Arg(65536);
BENCHMARK_CAPTURE(BM_NewAndSizedDelete, program, nullptr)->Arg(24)->Arg(200)->Arg(2000)->Arg(65536);

}  // namespace
}  // namespace nereid
