// SPDX-License-Identifier: Apache-2.0
// Settings of the allocator that the program is linked with (src/allocator).
//
// jemalloc reads `malloc_conf`, which the linker therefore exports, before main begins; MALLOC_CONF
// in the environment is read later and wins. A thread of jemalloc returns memory needed by a burst
// of large requests to the system within seconds, and not only when the next request happens to
// arrive. docs/adr/0005 has the comparison.
extern "C" {
__attribute__((visibility("default"))) extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";
}
