// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/tracing.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

template <typename T>
void ApplyOne(const TraceChange<T>& change, std::optional<T>* value) {
  if (change.has_value()) *value = *change;
}

bool SameRules(const TraceSettings& a, const TraceSettings& b) {
  return a.level == b.level && a.rate == b.rate && a.count == b.count &&
         a.log_frequency == b.log_frequency;
}

TraceSettingText One(const char* key, std::string value) { return {key, {std::move(value)}}; }

}  // namespace

void Tracing::Overrides::Apply(const TraceUpdate& update) {
  ApplyOne(update.level, &level);
  ApplyOne(update.rate, &rate);
  ApplyOne(update.count, &count);
  ApplyOne(update.log_frequency, &log_frequency);
}

TraceSettings Tracing::Overrides::Over(TraceSettings settings) const {
  settings.level = level.value_or(settings.level);
  settings.rate = rate.value_or(settings.rate);
  settings.count = count.value_or(settings.count);
  settings.log_frequency = log_frequency.value_or(settings.log_frequency);
  return settings;
}

Tracing::Tracing(TraceOptions options, std::shared_ptr<TraceCollector> collector)
    : options_(std::move(options)),
      collector_(std::move(collector)),
      picture_(std::make_shared<const Picture>()) {
  MutexLock lock(&mu_);
  global_.sampler = std::make_shared<TraceSampler>(options_.settings);
  Show();
}

Tracing* Tracing::Off() {
  static Tracing* const off = new Tracing({}, nullptr);
  return off;
}

TracedRequestPtr Tracing::SampleNow(absl::string_view model,
                                    const std::optional<TraceParent>& parent) {
  const Picture* const picture = picture_.Get();
  // Not copied for requests that are not traced: its count of references would go back and forth
  // between processors.
  const SamplerPtr* sampler = &picture->global;
  if (!picture->models.empty()) {
    const auto it = picture->models.find(model);
    if (it != picture->models.end()) sampler = &it->second;
  }
  if (!(*sampler)->Sample(parent.has_value() && parent->sampled)) return nullptr;
  return std::make_shared<TracedRequest>(*sampler, parent, takes_parents(), collector_);
}

absl::Status Tracing::Check(const TraceSettings& settings) const {
  if (settings.level == 0) return absl::OkStatus();
  const char* reason = nullptr;
  if (settings.rate == 0) reason = "sample rate must be non-zero";
  if (collector_ == nullptr) reason = "trace file name is not given";
  if (reason == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Attempting to set invalid trace setting :", reason));
}

TraceSettings Tracing::SettingsOf(const Scope& scope, const TraceSettings& base,
                                  bool count_changed) {
  TraceSettings settings = scope.overrides.Over(base);
  // What was used of a count that somebody has set here stays used; one that comes from elsewhere
  // begins anew.
  if (!count_changed && scope.overrides.count.has_value()) settings.count = scope.sampler->left();
  return settings;
}

absl::Status Tracing::Update(const std::string& model, const TraceUpdate& update) {
  std::shared_ptr<const Picture> old;  // destroyed without the lock
  MutexLock lock(&mu_);
  RETURN_IF_ERROR(model.empty() ? UpdateGlobal(update) : UpdateModel(model, update));
  old = Show();
  return absl::OkStatus();
}

absl::Status Tracing::UpdateGlobal(const TraceUpdate& update) {
  Scope next = global_;
  next.overrides.Apply(update);
  const TraceSettings settings = SettingsOf(next, options_.settings, update.count.has_value());
  RETURN_IF_ERROR(Check(settings));
  Models models = models_;
  std::vector<SamplerPtr> replaced = {std::move(next.sampler)};
  next.sampler = std::make_shared<TraceSampler>(settings);
  for (auto& [name, scope] : models) {
    const bool follows = update.count.has_value() && !scope.overrides.count.has_value();
    const TraceSettings wanted = SettingsOf(scope, settings, follows);
    if (SameRules(wanted, scope.sampler->settings())) continue;
    RETURN_IF_ERROR(Check(wanted));
    replaced.push_back(std::exchange(scope.sampler, std::make_shared<TraceSampler>(wanted)));
  }
  global_ = std::move(next);
  models_ = std::move(models);
  for (SamplerPtr& sampler : replaced) Retire(std::move(sampler));
  return absl::OkStatus();
}

absl::Status Tracing::UpdateModel(const std::string& model, const TraceUpdate& update) {
  const auto it = models_.find(model);
  Scope scope = it == models_.end() ? Scope() : it->second;
  scope.overrides.Apply(update);
  SamplerPtr replaced = scope.sampler;
  if (scope.overrides.empty()) {
    if (it != models_.end()) models_.erase(it);
  } else {
    const TraceSettings settings =
        SettingsOf(scope, global_.sampler->settings(), update.count.has_value());
    RETURN_IF_ERROR(Check(settings));
    scope.sampler = std::make_shared<TraceSampler>(settings);
    models_[model] = std::move(scope);
  }
  Retire(std::move(replaced));
  return absl::OkStatus();
}

std::shared_ptr<const Tracing::Picture> Tracing::Show() {
  auto picture = std::make_shared<Picture>();
  picture->global = global_.sampler;
  bool on = global_.sampler->level() != 0;
  for (const auto& [name, scope] : models_) {
    picture->models[name] = scope.sampler;
    on = on || scope.sampler->level() != 0;
  }
  std::shared_ptr<const Picture> old = picture_.Set(std::move(picture));
  on_.store(on && collector_ != nullptr, std::memory_order_relaxed);
  return old;
}

void Tracing::Retire(SamplerPtr sampler) const {
  if (collector_ != nullptr && sampler != nullptr) collector_->Retire(std::move(sampler));
}

std::vector<TraceSettingText> Tracing::Settings(const std::string& model) const {
  TraceSettings now;
  {
    MutexLock lock(&mu_);
    const auto it = models_.find(model);
    now = (it == models_.end() ? global_ : it->second).sampler->settings();
  }
  std::vector<TraceSettingText> texts;
  texts.push_back({kTraceLevelKey, TraceLevelNames(now.level), /*is_list=*/true});
  texts.push_back(One(kTraceRateKey, absl::StrCat(now.rate)));
  texts.push_back(One(kTraceCountKey, absl::StrCat(now.count)));
  if (options_.mode == TraceMode::kTriton) {
    texts.push_back(One(kLogFrequencyKey, absl::StrCat(now.log_frequency)));
    texts.push_back(One(kTraceFileKey, options_.file));
    texts.push_back(One(kTraceModeKey, "triton"));
    return texts;
  }
  const OtlpOptions& otlp = options_.otlp;
  texts.push_back(One(kTraceModeKey, "opentelemetry"));
  texts.push_back(One("url", otlp.url));
  if (!otlp.resource.empty()) {
    TraceSettingText resource{"resource", {}, false};
    for (const auto& [key, value] : otlp.resource) {
      resource.values.push_back(absl::StrCat(key, "=", value));
    }
    texts.push_back(std::move(resource));
  }
  texts.push_back(One("bsp_max_export_batch_size", absl::StrCat(otlp.max_export_batch_size)));
  texts.push_back(One("bsp_schedule_delay", absl::StrCat(otlp.schedule_delay_ms)));
  texts.push_back(One("bsp_max_queue_size", absl::StrCat(otlp.max_queue_size)));
  return texts;
}

bool Tracing::End(TimePoint deadline) {
  on_.store(false, std::memory_order_relaxed);
  return collector_ == nullptr || collector_->End(deadline);
}

}  // namespace nereid
