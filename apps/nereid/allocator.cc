// What the allocator that is linked into the program is told. jemalloc reads this variable, which
// the linker therefore exports, before main begins; MALLOC_CONF in the environment comes after it
// and wins.
//
// Memory that a burst of large requests needed is given back within seconds, by a thread of
// jemalloc's own, and not when the next request happens to come. docs/adr/0005 has the comparison.
extern "C" {
__attribute__((visibility("default"))) extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";
}
