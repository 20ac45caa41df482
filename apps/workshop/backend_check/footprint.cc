// SPDX-License-Identifier: Apache-2.0
#include "backend_check/footprint.h"

#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace nereid {
namespace {

namespace fs = std::filesystem;

int64_t CountEntries(const char* folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return error ? 0 : std::distance(begin(entries), end(entries));
}

int64_t CountChildren() {
  int64_t count = 0;
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/self/task", error)) {
    std::ifstream children(task.path() / "children");
    count += std::distance(std::istream_iterator<std::string>(children), {});
  }
  return count;
}

}  // namespace

Footprint Footprint::Now() {
  Footprint now;
  now.threads = CountEntries("/proc/self/task");
  now.descriptors = CountEntries("/proc/self/fd");
  now.processes = CountChildren();
  const struct mallinfo2 heap = mallinfo2();  // of glibc's allocator, which this program uses
  now.heap_bytes = static_cast<int64_t>(heap.uordblks + heap.hblkhd);
  return now;
}

}  // namespace nereid
