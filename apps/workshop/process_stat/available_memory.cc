// SPDX-License-Identifier: Apache-2.0
#include "process_stat/available_memory.h"

#include <fstream>
#include <string>

namespace nereid {

std::optional<uint64_t> AvailableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word != "MemAvailable:") continue;
    uint64_t kibibytes = 0;
    if (file >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

}  // namespace nereid
