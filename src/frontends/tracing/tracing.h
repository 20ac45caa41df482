// SPDX-License-Identifier: Apache-2.0
// Tracing: the settings of tracing for all models and for single ones, and the choice of the
// requests that are traced. One object serves all frontends. Thread-safe.
//
// While nothing is traced, a request costs one relaxed load.
#ifndef NEREID_FRONTENDS_TRACING_TRACING_H_
#define NEREID_FRONTENDS_TRACING_TRACING_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/read_mostly.h"
#include "frontends/tracing/trace_collector.h"
#include "frontends/tracing/trace_options.h"
#include "frontends/tracing/trace_sampler.h"
#include "frontends/tracing/trace_settings.h"
#include "frontends/tracing/traced_request.h"

namespace nereid {

class Tracing {
 public:
  // `collector`: null if there is nowhere to write to; then nothing can be traced.
  Tracing(TraceOptions options, std::shared_ptr<TraceCollector> collector);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  // One that never traces: for servers without tracing.
  static Tracing* Off();

  // Whether any request may be traced.
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // Whether there is somewhere to write to.
  bool can_trace() const { return collector_ != nullptr; }
  // The value of on(), for the transport, which notes times if it is true.
  const std::atomic<bool>* on_flag() const { return &on_; }
  // Whether the callers' spans are of interest.
  bool takes_parents() const { return options_.mode == TraceMode::kOpenTelemetry; }

  // The next request of `model`: null unless it is traced. `parent`: the caller's span.
  TracedRequestPtr Sample(absl::string_view model,
                          const std::optional<TraceParent>& parent = std::nullopt) {
    return on() ? SampleNow(model, parent) : nullptr;
  }

  // The settings of `model`, which exists, or the global ones if it is empty, in the order of the
  // protocol.
  std::vector<TraceSettingText> Settings(const std::string& model) const ABSL_LOCKS_EXCLUDED(mu_);
  // Changes them, all or nothing. A model that has settings of its own keeps these.
  // INVALID_ARGUMENT for settings with which nothing could be traced although the level asks for
  // it.
  absl::Status Update(const std::string& model, const TraceUpdate& update) ABSL_LOCKS_EXCLUDED(mu_);

  // Writes or sends what was traced so far, and traces nothing any more. False if that takes beyond
  // `deadline`.
  bool End(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Traces that were dropped because they could not be written fast enough.
  uint64_t dropped() const { return collector_ == nullptr ? 0 : collector_->dropped(); }

 private:
  using SamplerPtr = std::shared_ptr<TraceSampler>;
  // What is set beyond the settings that would hold otherwise.
  struct Overrides {
    std::optional<uint32_t> level;
    std::optional<uint32_t> rate;
    std::optional<int64_t> count;
    std::optional<uint32_t> log_frequency;

    void Apply(const TraceUpdate& update);
    TraceSettings Over(TraceSettings settings) const;
    bool empty() const {
      return !level.has_value() && !rate.has_value() && !count.has_value() &&
             !log_frequency.has_value();
    }
  };
  // Settings of a model, or of all.
  struct Scope {
    Overrides overrides;
    SamplerPtr sampler;
  };
  using Models = std::map<std::string, Scope>;
  // What requests see.
  struct Picture {
    SamplerPtr global;
    absl::flat_hash_map<std::string, SamplerPtr> models;
  };

  TracedRequestPtr SampleNow(absl::string_view model, const std::optional<TraceParent>& parent);
  // INVALID_ARGUMENT if requests cannot be traced by `settings`.
  absl::Status Check(const TraceSettings& settings) const;
  absl::Status UpdateGlobal(const TraceUpdate& update) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status UpdateModel(const std::string& model, const TraceUpdate& update)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The settings of `scope`, which follow `base` where nothing else is set.
  static TraceSettings SettingsOf(const Scope& scope, const TraceSettings& base,
                                  bool count_changed);
  // Shows the present settings to requests. Returns what nobody needs any more.
  std::shared_ptr<const Picture> Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Retire(SamplerPtr sampler) const;

  const TraceOptions options_;
  const std::shared_ptr<TraceCollector> collector_;
  std::atomic<bool> on_{false};
  ReadMostly<Picture> picture_;
  mutable Mutex mu_;
  Scope global_ ABSL_GUARDED_BY(mu_);
  Models models_ ABSL_GUARDED_BY(mu_);  // those with settings of their own
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACING_H_
