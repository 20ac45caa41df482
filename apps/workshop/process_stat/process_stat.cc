// SPDX-License-Identifier: Apache-2.0
#include "process_stat/process_stat.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace nereid {

std::optional<ProcessStat> ProcessStat::Of(int pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  // The process may end between open and read. Iterators over the buffer would throw then; this
  // form reads nothing.
  std::ostringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  // The name, in parentheses, may contain anything, so fields are counted from its end.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(text.substr(name_end + 2), ' ');
  // Fields of proc(5), which counts from 1; `fields` begins with the state, field 3.
  static constexpr size_t kGroup = 5 - 3;
  static constexpr size_t kUser = 14 - 3;
  static constexpr size_t kSystem = 15 - 3;
  static constexpr size_t kResident = 24 - 3;
  ProcessStat stat;
  int64_t system = 0;
  if (fields.size() <= kResident || !absl::SimpleAtoi(fields[kGroup], &stat.group) ||
      !absl::SimpleAtoi(fields[kUser], &stat.cpu_ticks) ||
      !absl::SimpleAtoi(fields[kSystem], &system) ||
      !absl::SimpleAtoi(fields[kResident], &stat.resident_pages)) {
    return std::nullopt;
  }
  stat.cpu_ticks += system;
  return stat;
}

}  // namespace nereid
