// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/process_memory.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

// Of jemalloc, where the program is linked with it (src/allocator).
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old, size_t* old_size,
                                             void* fresh, size_t fresh_size);

namespace nereid {
namespace {

// The parent in the text of a process's `stat`; 0: there is none. The second field is a name in
// parentheses, which may hold anything.
int ParentIn(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string> fields =
      absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
  int parent = 0;
  return fields.size() > 1 && absl::SimpleAtoi(fields[1], &parent) ? parent : 0;
}

std::multimap<int, int> ChildrenByParent(const std::filesystem::path& proc) {
  std::multimap<int, int> children;
  std::error_code error;
  for (std::filesystem::directory_iterator it(proc, error), end; !error && it != end;
       it.increment(error)) {
    int pid = 0;
    if (!absl::SimpleAtoi(it->path().filename().string(), &pid)) continue;
    std::ifstream file(it->path() / "stat");
    std::string stat;
    if (std::getline(file, stat)) children.emplace(ParentIn(stat), pid);
  }
  return children;
}

uint64_t ShareOf(const std::filesystem::path& process) {
  std::ifstream file(process / "smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "Pss:")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t kib = 0;
    return words.size() > 1 && absl::SimpleAtoi(words[1], &kib) ? kib << 10 : 0;
  }
  return 0;
}

}  // namespace

uint64_t ProcessTreeBytes(const std::filesystem::path& proc) {
  const std::multimap<int, int> children = ChildrenByParent(proc);
  std::vector<int> tree = {getpid()};
  uint64_t bytes = 0;
  for (size_t i = 0; i < tree.size(); ++i) {
    bytes += ShareOf(proc / std::to_string(tree[i]));
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto it = begin; it != end; ++it) tree.push_back(it->second);
  }
  return bytes;
}

void ReturnFreedMemory() {
  if (mallctl != nullptr) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all
  malloc_trim(0);
}

}  // namespace nereid
