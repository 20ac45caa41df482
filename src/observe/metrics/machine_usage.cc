// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/machine_usage.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace nereid {
namespace {

std::string ReadAll(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Value in bytes of the line "<key>:  <n> kB"; none if there is no such line.
std::optional<uint64_t> MemoryField(absl::string_view text, absl::string_view key) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, key)) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(key.size()), ' ', absl::SkipEmpty());
    uint64_t kilobytes;
    if (words.empty() || !absl::SimpleAtoi(words[0], &kilobytes)) return std::nullopt;
    return kilobytes * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CpuTicks> ParseCpuTicks(absl::string_view proc_stat) {
  const absl::string_view line = proc_stat.substr(0, proc_stat.find('\n'));
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  // cpu user nice system idle iowait irq softirq steal ...
  if (words.size() < 9 || words[0] != "cpu") return std::nullopt;
  uint64_t v[8];
  for (size_t i = 0; i < 8; ++i) {
    if (!absl::SimpleAtoi(words[i + 1], &v[i])) return std::nullopt;
  }
  return CpuTicks{v[0] + v[1] + v[2] + v[5] + v[6] + v[7], v[3] + v[4]};
}

bool ParseMemory(absl::string_view proc_meminfo, MachineSample* sample) {
  const std::optional<uint64_t> total = MemoryField(proc_meminfo, "MemTotal:");
  const std::optional<uint64_t> available = MemoryField(proc_meminfo, "MemAvailable:");
  if (!total || !available || *available > *total) return false;
  sample->memory_total_bytes = *total;
  sample->memory_used_bytes = *total - *available;
  return true;
}

MachineUsage::MachineUsage(Clock* clock, Duration interval) : clock_(clock), interval_(interval) {
  MutexLock lock(&mu_);
  last_ticks_ = ParseCpuTicks(ReadAll("/proc/stat")).value_or(CpuTicks{});
  taken_at_ = clock_->Now();
}

std::optional<MachineSample> MachineUsage::Sample() {
  MutexLock lock(&mu_);
  if (!sample_.has_value() || clock_->Now() - taken_at_ >= interval_) Refresh();
  return sample_;
}

void MachineUsage::Refresh() {
  const std::optional<CpuTicks> ticks = ParseCpuTicks(ReadAll("/proc/stat"));
  MachineSample sample;
  if (!ticks.has_value() || !ParseMemory(ReadAll("/proc/meminfo"), &sample)) {
    sample_.reset();
    return;
  }
  const uint64_t busy = ticks->busy - last_ticks_.busy;
  const uint64_t total = busy + ticks->idle - last_ticks_.idle;
  sample.cpu_utilization = total == 0 ? 0 : static_cast<double>(busy) / static_cast<double>(total);
  last_ticks_ = *ticks;
  taken_at_ = clock_->Now();
  sample_ = sample;
}

}  // namespace nereid
