// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/loop_meter.h"

#include <array>
#include <iterator>
#include <utility>

#include "triton/core/tritonserver.h"

namespace nereid_backend {
namespace {

struct Description {
  TRITONSERVER_MetricKind kind;
  const char* name;
  const char* help;
};

constexpr auto kCounter = TRITONSERVER_METRIC_KIND_COUNTER;
constexpr auto kGauge = TRITONSERVER_METRIC_KIND_GAUGE;
constexpr auto kHistogram = TRITONSERVER_METRIC_KIND_HISTOGRAM;

// In the order of MetricsMeter::Values, then the histograms.
constexpr Description kMetrics[] = {
    {kCounter, "nereid_generation_prompt_tokens",
     "Number of tokens of prompts, once more for each preemption and each further choice"},
    {kCounter, "nereid_generation_cached_tokens",
     "Number of tokens of prompts that were found in the prefix cache"},
    {kCounter, "nereid_generation_tokens", "Number of tokens that were generated"},
    {kCounter, "nereid_generation_preemptions",
     "Number of times that a request gave its memory up for others"},
    {kGauge, "nereid_generation_requests_running", "Number of requests that generate"},
    {kGauge, "nereid_generation_requests_waiting", "Number of requests that wait for room"},
    {kGauge, "nereid_generation_blocks_used", "Number of blocks of keys and values in use"},
    {kGauge, "nereid_generation_blocks", "Number of blocks of keys and values"},
    {kHistogram, "nereid_generation_first_token_duration_seconds",
     "Time from a request to its first token, in seconds"},
    {kHistogram, "nereid_generation_next_token_duration_seconds",
     "Time from a token to the next one of the request, in seconds"},
};
constexpr size_t kValues = 8;
// Those of the server's own histograms in seconds.
constexpr double kBuckets[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                               0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

void Ignore(TRITONSERVER_Error* error) { const Error ignored(error); }

struct ParameterDeleter {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};
using Label = std::unique_ptr<TRITONSERVER_Parameter, ParameterDeleter>;

struct ArgsDeleter {
  void operator()(TRITONSERVER_MetricArgs* args) const {
    Ignore(TRITONSERVER_MetricArgsDelete(args));
  }
};

Label MakeLabel(const char* name, const std::string& value) {
  return Label(TRITONSERVER_ParameterNew(name, TRITONSERVER_PARAMETER_STRING, value.c_str()));
}

// A metric with its family.
class Metric {
 public:
  Metric() = default;
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  ~Metric() {
    if (metric_ != nullptr) Ignore(TRITONSERVER_MetricDelete(metric_));
    if (family_ != nullptr) Ignore(TRITONSERVER_MetricFamilyDelete(family_));
  }

  Error Make(const Description& description, const std::string& model, const std::string& version) {
    NB_RETURN_IF_ERROR(TRITONSERVER_MetricFamilyNew(&family_, description.kind, description.name,
                                                    description.help));
    const Label labels[] = {MakeLabel("model", model), MakeLabel("version", version)};
    const TRITONSERVER_Parameter* given[] = {labels[0].get(), labels[1].get()};
    std::unique_ptr<TRITONSERVER_MetricArgs, ArgsDeleter> args;
    if (description.kind == kHistogram) {
      TRITONSERVER_MetricArgs* made = nullptr;
      NB_RETURN_IF_ERROR(TRITONSERVER_MetricArgsNew(&made));
      args.reset(made);
      NB_RETURN_IF_ERROR(
          TRITONSERVER_MetricArgsSetHistogram(args.get(), kBuckets, std::size(kBuckets)));
    }
    return Error(
        TRITONSERVER_MetricNewWithArgs(&metric_, family_, given, std::size(given), args.get()));
  }

  void Add(double value) {
    if (value != 0) Ignore(TRITONSERVER_MetricIncrement(metric_, value));
  }
  void Observe(double value) { Ignore(TRITONSERVER_MetricObserve(metric_, value)); }

 private:
  TRITONSERVER_MetricFamily* family_ = nullptr;
  TRITONSERVER_Metric* metric_ = nullptr;
};

class MetricsMeter : public LoopMeter {
 public:
  MetricsMeter() = default;
  // What is now is no more.
  ~MetricsMeter() override {
    for (size_t i = 0; i < kValues; ++i) {
      if (kMetrics[i].kind == kGauge) metrics_[i].Add(-shown_[i]);
    }
  }

  Error Make(const std::string& model, int64_t version) {
    for (size_t i = 0; i < std::size(kMetrics); ++i) {
      NB_RETURN_IF_ERROR(metrics_[i].Make(kMetrics[i], model, std::to_string(version)));
    }
    return Error();
  }

  void OnFirstToken(double seconds) override { metrics_[kValues].Observe(seconds); }
  void OnNextToken(double seconds) override { metrics_[kValues + 1].Observe(seconds); }

  // Adds differences, because other instances have their part in the same metrics.
  void OnStep(const Counts& counts) override {
    const Values values = {
        static_cast<double>(counts.prompt_tokens),    static_cast<double>(counts.cached_tokens),
        static_cast<double>(counts.generated_tokens), static_cast<double>(counts.preemptions),
        static_cast<double>(counts.running),          static_cast<double>(counts.waiting),
        static_cast<double>(counts.used_blocks),      static_cast<double>(counts.blocks)};
    for (size_t i = 0; i < kValues; ++i) metrics_[i].Add(values[i] - shown_[i]);
    shown_ = values;
  }

 private:
  using Values = std::array<double, kValues>;
  static_assert(std::size(kMetrics) == kValues + 2);

  Metric metrics_[std::size(kMetrics)];
  Values shown_ = {};
};

}  // namespace

Result<std::unique_ptr<LoopMeter>> MakeMetricsMeter(const std::string& model, int64_t version) {
  auto meter = std::make_unique<MetricsMeter>();
  NB_RETURN_IF_ERROR(meter->Make(model, version));
  return std::unique_ptr<LoopMeter>(std::move(meter));
}

}  // namespace nereid_backend
