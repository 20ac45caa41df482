#include "apps/loadgen/cpu_time.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace nereid::bench {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double OwnCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

absl::StatusOr<double> CpuSecondsOf(int pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // The name, in parentheses, may contain anything, so fields are counted from its end.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return absl::NotFoundError(absl::StrCat("no process ", pid));
  const std::vector<std::string> fields = absl::StrSplit(text.substr(name_end + 2), ' ');
  static constexpr size_t kUser = 11;  // utime is field 14 of proc(5), the state field 3
  static constexpr size_t kSystem = 12;
  int64_t user = 0;
  int64_t system = 0;
  if (fields.size() <= kSystem || !absl::SimpleAtoi(fields[kUser], &user) ||
      !absl::SimpleAtoi(fields[kSystem], &system)) {
    return absl::DataLossError(absl::StrCat("cannot read the times of process ", pid));
  }
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace nereid::bench
