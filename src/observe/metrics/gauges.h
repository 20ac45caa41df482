// SPDX-License-Identifier: Apache-2.0
// Gauges: numbers that other parts of the server publish in the metrics text (limits in use,
// connections). They are read only when metrics are scraped. Thread-safe.
#ifndef NEREID_OBSERVE_METRICS_GAUGES_H_
#define NEREID_OBSERVE_METRICS_GAUGES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

struct GaugeSample {
  std::string name;
  std::string help;
  double value;
};

class NEREID_API Gauges {
 public:
  // `read` is thread-safe, does not block, and stays callable until Remove is called with the same
  // name.
  void Add(const std::string& name, const std::string& help, std::function<double()> read)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<GaugeSample> Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Gauge {
    std::string help;
    std::function<double()> read;
  };
  mutable Mutex mu_;
  std::map<std::string, Gauge> gauges_ ABSL_GUARDED_BY(mu_);
};

// Gauges that are removed together. Thread-compatible. `gauges` outlives it.
class NEREID_API GaugeGroup {
 public:
  explicit GaugeGroup(Gauges* gauges) : gauges_(gauges) {}
  GaugeGroup(const GaugeGroup&) = delete;
  GaugeGroup& operator=(const GaugeGroup&) = delete;
  ~GaugeGroup() { End(); }

  // As Gauges::Add; `read` returns any number, and stays callable until the group ends.
  template <typename Read>
  void Add(std::string name, const std::string& help, Read read) {
    gauges_->Add(name, help, [read] { return static_cast<double>(read()); });
    names_.push_back(std::move(name));
  }
  // Removes them. May be called again.
  void End();

 private:
  Gauges* const gauges_;
  std::vector<std::string> names_;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_METRICS_GAUGES_H_
