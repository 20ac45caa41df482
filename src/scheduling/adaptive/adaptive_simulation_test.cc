// SPDX-License-Identifier: Apache-2.0
// Compares adaptive batching with fixed delays, on simulated models and loads, by goodput: the
// requests per second that are answered within the target. Prints all results.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "infer/testing/fake_model.h"
#include "scheduling/adaptive/adaptive_policy.h"
#include "scheduling/testing/batching_simulation.h"

namespace nereid {
namespace {

using simulation::Arrivals;
using simulation::Decider;
using simulation::Load;
using simulation::Setting;
using std::chrono::microseconds;

constexpr std::array kFixedDelays = {microseconds(0), microseconds(100), microseconds(500),
                                     microseconds(2000)};
constexpr std::array kLoads = {Load::kPoisson, Load::kBursty, Load::kStep};
constexpr int32_t kMaxBatch = 64;
constexpr double kSeconds = 6;

BatchPolicy Rules(Duration delay) {
  return BatchPolicy(ModelBuilder().MaxBatch(kMaxBatch).Batching({}, delay).Build());
}

class FixedDelay final : public Decider {
 public:
  explicit FixedDelay(Duration delay) : policy_(Rules(delay)) {}
  BatchDecision Decide(const QueueView& queue, TimePoint now, BatchCursor* cursor) override {
    return policy_.Decide(queue, now, cursor);
  }

 private:
  const BatchPolicy policy_;
};

class Adaptive final : public Decider {
 public:
  explicit Adaptive(const Setting& setting)
      : rules_(Rules(Duration(0))), policy_({setting.target, kMaxBatch, setting.instances}) {}
  BatchDecision Decide(const QueueView& queue, TimePoint now, BatchCursor* cursor) override {
    return policy_.Decide(rules_, queue, now, cursor);
  }
  void OnArrival(TimePoint now) override { policy_.OnArrival(now, 1); }
  void OnExecuted(uint64_t units, Duration took) override { policy_.OnExecuted(units, took); }

 private:
  const BatchPolicy rules_;
  AdaptivePolicy policy_;
};

struct Case {
  const char* name;
  std::function<double(double)> micros;
  microseconds target;
  double rate;
  size_t instances;
  double least_gain;  // of the sum over all loads, compared with the best fixed delay
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

// ---- Models

// A compute-bound network: the fixed cost is small, and the largest batch exceeds the target.
double Computes(double batch) { return 200 + 100 * batch; }
// A model that processes eight requests at a time.
double Steps(double batch) { return 300 + 400 * std::ceil(batch / 8); }
// A model whose data no longer fits the cache if the batch is larger than 16.
double Cliff(double batch) { return 100 + 25 * batch + (batch > 16 ? 75 * (batch - 16) : 0); }
// A model whose time hardly depends on the batch size.
double Fixed(double batch) { return 1000 + 20 * batch; }

class AdaptiveSimulationTest : public ::testing::TestWithParam<Case> {};

TEST_P(AdaptiveSimulationTest, IsAsGoodAsTheBestFixedDelayOfEachLoadAndBetterThanAnyOverAll) {
  const Case& c = GetParam();
  const Setting setting{c.micros, c.instances, c.target};
  std::array<double, kFixedDelays.size()> sums{};
  double adaptive_sum = 0;
  for (const Load load : kLoads) {
    const std::vector<TimePoint> arrivals = Arrivals(load, c.rate, kSeconds, 5);
    double best = 0;
    std::printf("%-12s load %d:", c.name, static_cast<int>(load));
    for (size_t i = 0; i < kFixedDelays.size(); ++i) {
      FixedDelay fixed(kFixedDelays[i]);
      const double goodput = simulation::Run(arrivals, setting, &fixed).Goodput();
      std::printf("  %4d us %6.0f/s", static_cast<int>(kFixedDelays[i].count()), goodput);
      best = std::max(best, goodput);
      sums[i] += goodput;
    }
    Adaptive adaptive(setting);
    const double goodput = simulation::Run(arrivals, setting, &adaptive).Goodput();
    std::printf("  adaptive %6.0f/s (%+.2f %%)\n", goodput, 100 * (goodput / best - 1));
    EXPECT_GE(goodput, 0.97 * best) << "load " << static_cast<int>(load);
    adaptive_sum += goodput;
  }
  EXPECT_GT(adaptive_sum, (1 + c.least_gain) * *std::max_element(sums.begin(), sums.end()));
}

INSTANTIATE_TEST_SUITE_P(
    Models, AdaptiveSimulationTest,
    ::testing::Values(Case{"computes", Computes, microseconds(5000), 3000, 1, 0.005},
                      Case{"computes5k", Computes, microseconds(5000), 5000, 1, 0},
                      Case{"steps", Steps, microseconds(4000), 4000, 1, 0.01},
                      Case{"steps8k", Steps, microseconds(4000), 8000, 1, 0},
                      Case{"cliff", Cliff, microseconds(4000), 8000, 1, 0.1},
                      Case{"two", Computes, microseconds(5000), 8000, 2, 0},
                      // The requests that arrive during an execution are the next batch. So nothing
                      // is gained by a delay, and a little is lost until the policy has learned
                      // that.
                      Case{"fixed", Fixed, microseconds(4000), 6000, 1, -0.01},
                      Case{"fixed2.5ms", Fixed, microseconds(2500), 4000, 1, -0.01}),
    [](const auto& info) {
      std::string name = info.param.name;
      name.erase(std::remove(name.begin(), name.end(), '.'), name.end());
      return name;
    });

}  // namespace
}  // namespace nereid
