// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/service_curve.h"

#include <algorithm>
#include <cmath>

namespace nereid {
namespace {

constexpr uint64_t kSingle = 32;     // sizes up to this have a node of their own
constexpr uint64_t kPerOctave = 16;  // nodes per octave for larger sizes
constexpr double kMaxWeight = 16;    // a new measurement counts at least 1/16
constexpr double kLineWeight = 2;    // the line counts as much as this many measurements of a node
constexpr double kLineDecay = 1.0 / 512;
constexpr double kForgotten = 4096;  // executions after which an old measurement no longer counts
constexpr double kOutlier = 3;       // longer times count as this many times the estimate
constexpr double kDeviationStep = 1.0 / 64;
constexpr double kMaxDeviation = 0.5;
constexpr double kEfficient = 1.03;
// The weight of the assumption that half of the time does not depend on the size. It matters while
// all batches have about the same size.
constexpr double kPrior = 0.02;

}  // namespace

void ServiceCurve::Line::Add(double units, double nanos) {
  const double keep = 1 - kLineDecay;
  weight = weight * keep + 1;
  x = x * keep + units;
  y = y * keep + nanos;
  xx = xx * keep + units * units;
  xy = xy * keep + units * nanos;
  const double mean_x = x / weight;
  const double mean_y = y / weight;
  const double prior = kPrior * mean_x * mean_x;
  const double prior_slope = mean_y / mean_x / 2;
  const double variance = std::max(0.0, xx / weight - mean_x * mean_x);
  const double covariance = xy / weight - mean_x * mean_y;
  slope = std::clamp((covariance + prior * prior_slope) / (variance + prior), 0.0, mean_y / mean_x);
  base = mean_y - slope * mean_x;
}

ServiceCurve::ServiceCurve(uint64_t max_units) : efficient_(max_units) {
  for (uint64_t units = 1; units < max_units;) {
    nodes_.push_back({units});
    uint64_t step = 1;
    while (units >= 2 * step * kPerOctave) step *= 2;
    units += step;
  }
  nodes_.push_back({max_units});
}

size_t ServiceCurve::IndexOf(uint64_t units) const {
  if (units <= std::min<uint64_t>(kSingle, nodes_.size())) return static_cast<size_t>(units) - 1;
  const auto above = std::upper_bound(nodes_.begin(), nodes_.end(), units,
                                      [](uint64_t u, const Node& node) { return u < node.units; });
  return static_cast<size_t>(above - nodes_.begin()) - 1;
}

double ServiceCurve::At(uint64_t units) const {
  const uint64_t asked = std::max<uint64_t>(1, units);
  const size_t index = IndexOf(asked);
  const Node& node = nodes_[index];
  if (node.units == asked) return node.estimate;
  // A single request may be larger than the largest batch.
  if (index + 1 == nodes_.size()) {
    return node.estimate + line_.slope * static_cast<double>(asked - node.units);
  }
  const Node& next = nodes_[index + 1];
  const double part =
      static_cast<double>(asked - node.units) / static_cast<double>(next.units - node.units);
  return node.estimate + part * (next.estimate - node.estimate);
}

void ServiceCurve::Record(uint64_t units, Duration took) {
  const uint64_t size = std::max<uint64_t>(1, units);
  double nanos = std::max(1.0, static_cast<double>(took.count()));
  if (known()) {
    const double expected = std::max(1.0, At(size));
    nanos = std::min(nanos, kOutlier * expected);
    const double off = std::min(kMaxDeviation, std::abs(nanos - expected) / expected);
    deviation_ += (off - deviation_) * kDeviationStep;
  }
  ++recorded_;
  line_.Add(static_cast<double>(size), nanos);
  Node& node = nodes_[IndexOf(size)];
  node.weight = std::min(kMaxWeight, node.weight + 1);
  // Scaled to the node's own size.
  const double scaled =
      nanos + line_.slope * (static_cast<double>(node.units) - static_cast<double>(size));
  node.nanos += (std::max(1.0, scaled) - node.nanos) / node.weight;
  node.recorded_at = recorded_;
  Refresh();
}

void ServiceCurve::Refresh() {
  double best = 0;
  for (Node& node : nodes_) {
    const double age = static_cast<double>(recorded_ - node.recorded_at);
    const double weight = node.weight * std::max(0.0, 1 - age / kForgotten);
    const double line = line_.At(static_cast<double>(node.units));
    node.estimate = (weight * node.nanos + kLineWeight * line) / (weight + kLineWeight);
    const double per_unit = node.estimate / static_cast<double>(node.units);
    if (best == 0 || per_unit < best) best = per_unit;
  }
  for (const Node& node : nodes_) {
    if (node.estimate <= kEfficient * best * static_cast<double>(node.units)) {
      efficient_ = node.units;
    }
  }
}

}  // namespace nereid
