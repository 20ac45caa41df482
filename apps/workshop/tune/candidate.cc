// SPDX-License-Identifier: Apache-2.0
#include "tune/candidate.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>

namespace nereid {
namespace {

constexpr double kLeastDelayUs = 50;
constexpr double kMostDelayUs = 100'000;
// More instances than these are tried in powers of two.
constexpr int32_t kEveryCountUpTo = 4;

// Two digits, so that configurations are easy to read.
uint64_t Rounded(double us) {
  const double step = std::pow(10, std::floor(std::log10(us)) - 1);
  return static_cast<uint64_t>(std::round(us / step) * step);
}

std::vector<uint64_t> DelaysFor(double request_us) {
  std::vector<uint64_t> delays;
  for (const double factor : {0.5, 1.0, 2.0}) {
    const double delay_us = std::max(request_us, 1.0) * factor;
    delays.push_back(Rounded(std::clamp(delay_us, kLeastDelayUs, kMostDelayUs)));
  }
  delays.erase(std::unique(delays.begin(), delays.end()), delays.end());
  return delays;
}

std::vector<int32_t> CountsFor(const Candidate& current, int32_t most) {
  std::vector<int32_t> counts = {current.instances};
  for (int32_t count = 1; count < most; count += count < kEveryCountUpTo ? 1 : count) {
    counts.push_back(count);
  }
  counts.push_back(most);
  absl::c_sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

class Collector {
 public:
  explicit Collector(const Candidate& current) : all_({current}) {}

  void Add(const Candidate& candidate) {
    if (!absl::c_linear_search(all_, candidate)) all_.push_back(candidate);
  }
  std::vector<Candidate> Take() { return std::move(all_); }

 private:
  std::vector<Candidate> all_;
};

// Ways to form batches of at most `candidate.max_batch_size`.
void AddBatching(Candidate candidate, const std::vector<uint64_t>& delays, Collector* to) {
  candidate.batching = true;
  candidate.preferred_batch_sizes.clear();
  candidate.max_queue_delay_us = 0;
  to->Add(candidate);
  for (const uint64_t delay : delays) {
    candidate.max_queue_delay_us = delay;
    candidate.preferred_batch_sizes.clear();
    to->Add(candidate);
    for (int32_t size = 2; size < candidate.max_batch_size; size *= 2) {
      candidate.preferred_batch_sizes = {size};
      to->Add(candidate);
    }
  }
}

ConfigChanges EngineChanges(const CompiledModel& model, const Engine& engine) {
  ConfigChanges changes;
  if (engine == EngineOf(model)) return changes;
  if (!engine.backend.empty()) changes.backend = engine.backend;
  if (engine.threads > 0) {
    const std::string parameter = ThreadParameterOf(changes.backend.value_or(model.backend));
    changes.parameters[parameter] = absl::StrCat(engine.threads);
  }
  return changes;
}

}  // namespace

int32_t InstancesOf(const Configuration& configuration) {
  int32_t instances = 0;
  for (const Candidate& candidate : configuration) instances += candidate.instances;
  return instances;
}

int64_t ThreadsOf(const Configuration& configuration) {
  constexpr int64_t kAllThereAre = 1 << 20;
  int64_t threads = 0;
  for (const Candidate& candidate : configuration) {
    const int64_t of_one = candidate.engine.threads > 0 ? candidate.engine.threads : kAllThereAre;
    threads += candidate.instances * of_one;
  }
  return threads;
}

uint64_t QueueDelayUsOf(const Configuration& configuration) {
  uint64_t delay_us = 0;
  for (const Candidate& candidate : configuration) delay_us += candidate.max_queue_delay_us;
  return delay_us;
}

Candidate CurrentOf(const CompiledModel& model) {
  Candidate current;
  current.engine = EngineOf(model);
  current.instances = static_cast<int32_t>(absl::c_count_if(
      model.instances, [](const InstanceSpec& instance) { return !instance.passive; }));
  current.max_batch_size = model.max_batch_size;
  current.batching = model.batching.enabled;
  if (!current.batching) return current;
  current.preferred_batch_sizes = model.batching.preferred_batch_sizes;
  if (current.preferred_batch_sizes == std::vector<int32_t>{current.max_batch_size}) {
    current.preferred_batch_sizes.clear();
  }
  current.max_queue_delay_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(model.batching.max_queue_delay)
          .count());
  return current;
}

std::vector<Candidate> CandidatesFor(const Candidate& current, const SearchSpace& space) {
  Collector all(current);
  std::vector<int32_t> sizes = space.max_batch_sizes;
  if (sizes.empty()) sizes = {current.max_batch_size};
  for (const auto& [engine, request_us] : space.request_us) {
    for (const int32_t count : CountsFor(current, space.max_instances)) {
      Candidate candidate = current;
      candidate.engine = engine;
      candidate.instances = count;
      all.Add(candidate);
      for (const int32_t size : sizes) {
        candidate.max_batch_size = size;
        if (size > 1) AddBatching(candidate, DelaysFor(request_us), &all);
      }
    }
  }
  return all.Take();
}

CompiledModel With(const CompiledModel& model, const Candidate& candidate) {
  CompiledModel with = model;
  InstanceSpec instance =
      *absl::c_find_if(model.instances, [](const InstanceSpec& spec) { return !spec.passive; });
  with.instances.assign(static_cast<size_t>(candidate.instances), instance);
  for (size_t i = 0; i < with.instances.size(); ++i) {
    with.instances[i].name = absl::StrCat(model.name, "_", i);
  }
  with.max_batch_size = candidate.max_batch_size;
  with.batching.enabled = candidate.batching;
  with.batching.preferred_batch_sizes = candidate.preferred_batch_sizes;
  if (candidate.batching && candidate.preferred_batch_sizes.empty()) {
    with.batching.preferred_batch_sizes = {candidate.max_batch_size};
  }
  with.batching.max_queue_delay = std::chrono::microseconds(candidate.max_queue_delay_us);
  const ConfigChanges changes = EngineChanges(model, candidate.engine);
  with.backend = changes.backend.value_or(model.backend);
  for (const auto& [key, value] : changes.parameters) with.parameters[key] = value;
  return with;
}

ConfigChanges ChangesOf(const CompiledModel& model, const Candidate& candidate) {
  const Candidate current = CurrentOf(model);
  ConfigChanges changes = EngineChanges(model, candidate.engine);
  if (candidate.instances != current.instances) changes.instances = candidate.instances;
  if (candidate.max_batch_size != current.max_batch_size) {
    changes.max_batch_size = candidate.max_batch_size;
  }
  if (!candidate.batching) {
    changes.no_batching = current.batching;
    // A backend that completes the largest batch adds batching, too.
    if (current.batching) changes.max_batch_size = candidate.max_batch_size;
    return changes;
  }
  // Preferred sizes are checked before a backend completes the largest batch.
  if (!candidate.preferred_batch_sizes.empty()) changes.max_batch_size = candidate.max_batch_size;
  const bool added = !current.batching;
  // With another largest batch, today's preferred sizes may be too large, or not the largest.
  if (added || candidate.max_batch_size != current.max_batch_size ||
      candidate.preferred_batch_sizes != current.preferred_batch_sizes) {
    changes.preferred_batch_sizes = candidate.preferred_batch_sizes;
  }
  if (added || candidate.max_queue_delay_us != current.max_queue_delay_us) {
    changes.max_queue_delay_us = candidate.max_queue_delay_us;
  }
  return changes;
}

std::string NameOf(const Candidate& candidate) {
  std::string name =
      absl::StrCat(candidate.instances, " instance", candidate.instances == 1 ? "" : "s");
  if (const std::string engine = NameOf(candidate.engine); !engine.empty()) {
    absl::StrAppend(&name, " of ", engine);
  }
  if (candidate.max_batch_size == 0) return name;
  if (!candidate.batching) return name + ", no batching";
  absl::StrAppend(&name, ", batches of ", candidate.max_batch_size);
  if (!candidate.preferred_batch_sizes.empty()) {
    absl::StrAppend(&name, ", preferred ", absl::StrJoin(candidate.preferred_batch_sizes, " "));
  }
  if (candidate.max_queue_delay_us > 0) {
    absl::StrAppend(&name, ", delay ", candidate.max_queue_delay_us, " µs");
  }
  return name;
}

std::string NameOf(const Configuration& configuration, const std::vector<std::string>& models) {
  if (configuration.size() == 1) return NameOf(configuration[0]);
  std::string name;
  for (size_t i = 0; i < configuration.size(); ++i) {
    absl::StrAppend(&name, i == 0 ? "" : "; ", models[i], ": ", NameOf(configuration[i]));
  }
  return name;
}

}  // namespace nereid
