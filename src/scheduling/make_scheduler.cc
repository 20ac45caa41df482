// SPDX-License-Identifier: Apache-2.0
#include "scheduling/make_scheduler.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "config/server_parameters.h"
#include "scheduling/adaptive/adaptive_policy.h"
#include "scheduling/cached/cached_scheduler.h"
#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/ensemble/ensemble_scheduler.h"
#include "scheduling/ordered_scheduler.h"
#include "scheduling/sequence/sequence_scheduler.h"

namespace nereid {
namespace {

// backend.inline_limit, or zero if no I/O thread may execute the model.
absl::StatusOr<Duration> InlineLimit(const CompiledModel& model, const BackendTraits& backend) {
  bool allowed = backend.executes_briefly;
  if (const auto it = model.parameters.find(kInlineExecutionParameter);
      it != model.parameters.end()) {
    if (it->second != "true" && it->second != "false") {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter '", kInlineExecutionParameter, "' of model '", model.name,
                       "' is '", it->second, "'; it must be 'true' or 'false'"));
    }
    allowed = it->second == "true";
  }
  return allowed ? backend.inline_limit : Duration(0);
}

absl::StatusOr<std::unique_ptr<Scheduler>> MakeSequenceScheduler(const CompiledModel& model,
                                                                 const SchedulerTools& tools) {
  RETURN_IF_ERROR(AdaptiveTarget(model, {}).status());
  const auto active =
      absl::c_count_if(model.instances, [](const InstanceSpec& spec) { return !spec.passive; });
  return std::make_unique<SequenceScheduler>(
      &model, static_cast<uint32_t>(active), tools.clock,
      SequenceSchedulerOptions{tools.timer, tools.hold_until_queued, tools.hold_until_backlogged});
}

absl::StatusOr<std::unique_ptr<Scheduler>> MakeDynamicScheduler(const CompiledModel& model,
                                                                const SchedulerTools& tools,
                                                                const BackendTraits& backend,
                                                                Duration inline_limit) {
  ASSIGN_OR_RETURN(std::unique_ptr<BatchStrategy> strategy, backend.make_strategy());
  ASSIGN_OR_RETURN(const Duration target,
                   AdaptiveTarget(model, {strategy != nullptr, backend.rate_limited}));
  return std::make_unique<DynamicScheduler>(
      &model, std::move(strategy), tools.clock, inline_limit,
      DynamicSchedulerOptions{tools.timer, tools.hold_until_queued, target});
}

// Puts the response cache in front of `inner`, if the configuration asks for it.
std::unique_ptr<Scheduler> UseCache(std::unique_ptr<Scheduler> inner, const CompiledModel& model,
                                    absl::string_view kind, absl::string_view fingerprint,
                                    const SchedulerTools& tools) {
  if (!model.response_cache) return inner;
  if (tools.response_cache == nullptr) {
    LOG_WARNING << kind << " '" << model.name
                << "' asks for the response cache, but the server was started without one "
                   "(--cache-config)";
    return inner;
  }
  return std::make_unique<CachedScheduler>(std::move(inner), tools.response_cache,
                                           tools.cache_executor, model, fingerprint, tools.clock);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Scheduler>> MakeScheduler(const CompiledModel& model,
                                                         absl::string_view fingerprint,
                                                         const SchedulerTools& tools,
                                                         const BackendTraits& backend) {
  ASSIGN_OR_RETURN(const Duration inline_limit, InlineLimit(model, backend));
  // No layers: each instance keeps the order of its responses, and the configuration does not allow
  // the cache.
  if (model.sequence.enabled) return MakeSequenceScheduler(model, tools);
  ASSIGN_OR_RETURN(std::unique_ptr<Scheduler> scheduler,
                   MakeDynamicScheduler(model, tools, backend, inline_limit));
  scheduler = UseCache(std::move(scheduler), model, "model", fingerprint, tools);
  if (!model.batching.preserve_ordering) return scheduler;
  // The outermost layer, so that answers from the cache leave in order, too.
  return std::make_unique<OrderedScheduler>(std::move(scheduler));
}

std::unique_ptr<Scheduler> MakeEnsembleScheduler(const CompiledModel& model,
                                                 absl::string_view fingerprint,
                                                 const SchedulerTools& tools, StepGraph graph,
                                                 ModelResolver* resolver,
                                                 const StepAllocator* allocator) {
  return UseCache(std::make_unique<EnsembleScheduler>(&model, std::move(graph), resolver, allocator,
                                                      tools.clock),
                  model, "ensemble", fingerprint, tools);
}

}  // namespace nereid
