// SPDX-License-Identifier: Apache-2.0
// Settings of jemalloc, with which the worker is linked (src/allocator). TensorFlow takes memory
// for every tensor of every run: a small network needs 5 to 20 % less time per run than with
// glibc's allocator. docs/adr/0017 has the measurements.
#include <jemalloc/jemalloc.h>

#include <cstddef>
#include <cstdint>

extern "C" {
// Read before main begins; MALLOC_CONF in the environment is read later and wins.
// - background_thread: memory that is not needed goes back to the system, even if no run comes.
// - lg_tcache_max: no thread keeps freed tensors above 16 KiB for itself. Tensors would then lie in
//   more different places than fit into the caches of the processor.
// - oversize_threshold: blocks above 8 MiB, intermediate results of a convolutional network, do not
//   go back at once. Every run would have them made and zeroed by the kernel anew.
// - thp: weights and tensors lie in huge pages where the kernel has some (setting "madvise" or
//   "always"), so that fewer addresses have to be looked up.
__attribute__((visibility("default"))) extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,lg_tcache_max:14,oversize_threshold:0,thp:always";
}

namespace {

// jemalloc 5.3 makes its first arena before it sets the threshold, and leaves it without.
const int g_first_arena = [] {
  size_t threshold = 0;
  size_t size = sizeof(threshold);
  if (mallctl("opt.oversize_threshold", &threshold, &size, nullptr, 0) != 0) return 0;
  if (threshold == 0) threshold = SIZE_MAX;
  return mallctl("arena.0.oversize_threshold", nullptr, nullptr, &threshold, sizeof(threshold));
}();

}  // namespace
