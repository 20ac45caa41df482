// SPDX-License-Identifier: Apache-2.0
#include "tune/next_measurement.h"

#include <algorithm>

namespace nereid {
namespace {

// So much the prediction weighs beside a measurement of the same configuration.
constexpr double kTrust = 0.2;
// So much better may be what is like nothing that was measured.
constexpr double kCurious = 0.2;

// What differs makes measurements say less about each other: threads that have to wake up after a
// delay are the most that the simulation does not know.
double LikenessOf(const Candidate& a, const Candidate& b) {
  double likeness = 1;
  if (a.engine != b.engine) likeness *= 0.4;
  if (a.batching != b.batching) likeness *= 0.3;
  if ((a.max_queue_delay_us > 0) != (b.max_queue_delay_us > 0)) {
    likeness *= 0.3;
  } else if (a.max_queue_delay_us != b.max_queue_delay_us) {
    likeness *= 0.9;
  }
  if (a.instances != b.instances) likeness *= 0.7;
  if (a.preferred_batch_sizes != b.preferred_batch_sizes) likeness *= 0.8;
  if (a.max_batch_size != b.max_batch_size) likeness *= 0.8;
  return likeness;
}

// A mean of factors that begins with 1, the prediction as it is.
class Correction {
 public:
  void Add(double predicted, double measured, double weight) {
    if (predicted <= 0 || measured <= 0) return;
    sum_ += weight * measured / predicted;
    weights_ += weight;
  }
  double factor() const { return sum_ / weights_; }

 private:
  double sum_ = kTrust;
  double weights_ = kTrust;
};

// `judged` as it would be measured, hopefully.
Judged Corrected(const Judged& judged, const std::vector<const Judged*>& measured) {
  Correction throughput, p50, p99, memory;
  double most_alike = 0;
  for (const Judged* const other : measured) {
    const double likeness = Likeness(judged.configuration, other->configuration);
    const Performance& predicted = other->predicted;
    const Performance& found = other->measured->performance;
    throughput.Add(predicted.throughput, found.throughput, likeness);
    p50.Add(predicted.p50_us, found.p50_us, likeness);
    p99.Add(predicted.p99_us, found.p99_us, likeness);
    memory.Add(other->predicted_memory_mib, other->measured->memory_mib, likeness);
    most_alike = std::max(most_alike, likeness);
  }
  const double hope = 1 + kCurious * (1 - most_alike);
  Judged corrected = judged;
  corrected.predicted.throughput *= throughput.factor() * hope;
  corrected.predicted.p50_us *= p50.factor() / hope;
  corrected.predicted.p99_us *= p99.factor() / hope;
  corrected.predicted_memory_mib *= memory.factor() / hope;
  return corrected;
}

}  // namespace

double Likeness(const Configuration& a, const Configuration& b) {
  double likeness = 1;
  for (size_t i = 0; i < a.size(); ++i) likeness *= LikenessOf(a[i], b[i]);
  return likeness;
}

std::optional<size_t> NextToMeasure(const std::vector<Judged>& all, const Goal& goal) {
  std::vector<const Judged*> measured;
  for (const Judged& judged : all) {
    if (judged.measured.has_value()) measured.push_back(&judged);
  }
  std::vector<size_t> places;
  std::vector<Judged> left;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].measured.has_value()) continue;
    places.push_back(i);
    left.push_back(Corrected(all[i], measured));
  }
  if (left.empty()) return std::nullopt;
  return places[Best(left, goal, 1)[0]];
}

}  // namespace nereid
