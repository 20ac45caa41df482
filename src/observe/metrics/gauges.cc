// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/gauges.h"

namespace nereid {

void Gauges::Add(const std::string& name, const std::string& help, std::function<double()> read) {
  MutexLock lock(&mu_);
  gauges_[name] = {help, std::move(read)};
}

void Gauges::Remove(const std::string& name) {
  MutexLock lock(&mu_);
  gauges_.erase(name);
}

std::vector<GaugeSample> Gauges::Read() const {
  std::vector<GaugeSample> samples;
  // `read` is called under the lock, so that it is no longer running when Remove returns.
  MutexLock lock(&mu_);
  for (const auto& [name, gauge] : gauges_) samples.push_back({name, gauge.help, gauge.read()});
  return samples;
}

void GaugeGroup::End() {
  for (const std::string& name : names_) gauges_->Remove(name);
  names_.clear();
}

}  // namespace nereid
