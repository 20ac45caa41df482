// SPDX-License-Identifier: Apache-2.0
#include "top/top_view.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nereid {
namespace {

uint64_t Sum(const Counts& counts) {
  uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

uint64_t Elements(const Counts& batch_sizes) {
  uint64_t sum = 0;
  for (const auto& [size, count] : batch_sizes) {
    uint64_t number = 0;
    if (absl::SimpleAtoi(size, &number)) sum += number * count;
  }
  return sum;
}

std::optional<double> Rate(uint64_t before, uint64_t now, double seconds) {
  if (now < before || !(seconds > 0)) return std::nullopt;
  return static_cast<double>(now - before) / seconds;
}

double SecondsBetween(const LiveAnswer& before, const LiveAnswer& now) {
  return now.now_ns > before.now_ns ? static_cast<double>(now.now_ns - before.now_ns) / 1e9 : 0;
}

// When the server was started, by its own clock.
uint64_t StartOf(const LiveAnswer& answer) { return answer.now_ns - answer.server.uptime_ns; }

// A version that was loaded anew counts from zero.
bool IsSameModel(const LiveModelAnswer& before, const LiveModelAnswer& now) {
  return before.serves && now.serves && now.succeeded >= before.succeeded &&
         Sum(now.failed) >= Sum(before.failed) && now.busy_ns >= before.busy_ns &&
         Sum(now.batch_sizes) >= Sum(before.batch_sizes);
}

void AddRates(const LiveModelAnswer& before, const LiveModelAnswer& now, double seconds,
              TopRow* row) {
  const uint64_t failed_before = Sum(before.failed);
  const uint64_t failed_now = Sum(now.failed);
  row->failures_per_s = Rate(failed_before, failed_now, seconds);
  row->requests_per_s = Rate(before.succeeded + failed_before, now.succeeded + failed_now, seconds);
  const uint64_t batches = Sum(now.batch_sizes) - Sum(before.batch_sizes);
  if (batches > 0) {
    row->batch_size =
        Rate(Elements(before.batch_sizes), Elements(now.batch_sizes), static_cast<double>(batches));
  }
  if (now.instances > 0) {
    row->busy =
        Rate(before.busy_ns, now.busy_ns, seconds * 1e9 * static_cast<double>(now.instances));
    if (row->busy.has_value()) row->busy = std::min(1.0, *row->busy);
  }
}

std::optional<uint64_t> PhaseOf(const LiveModelAnswer& model, const char* phase,
                                const char* percentile) {
  const auto times = model.phases_ns.find(phase);
  if (times == model.phases_ns.end()) return std::nullopt;
  const auto time = times->second.find(percentile);
  if (time == times->second.end()) return std::nullopt;
  return time->second;
}

// "full 80 %"; empty if no batch is known.
std::string MostFrequent(const Counts& reasons) {
  const auto most =
      std::max_element(reasons.begin(), reasons.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == reasons.end() || most->second == 0) return "";
  const double share = static_cast<double>(most->second) / static_cast<double>(Sum(reasons));
  return absl::StrCat(most->first, " ", static_cast<int>(share * 100 + 0.5), " %");
}

TopRow RowOf(const LiveModelAnswer& model) {
  TopRow row;
  row.model = model.name;
  row.version = model.version;
  row.state = model.state;
  row.serves = model.serves;
  row.memory_bytes = model.memory_bytes;
  row.because = model.serves ? MostFrequent(model.reasons) : model.reason;
  row.queued = model.queued;
  row.in_flight = model.in_flight;
  row.queue_p50 = PhaseOf(model, "queue", "p50");
  row.queue_p99 = PhaseOf(model, "queue", "p99");
  // An ensemble computes nothing itself.
  const char* const compute = model.phases_ns.count("steps") > 0 ? "steps" : "compute_infer";
  row.compute_p50 = PhaseOf(model, compute, "p50");
  row.compute_p99 = PhaseOf(model, compute, "p99");
  return row;
}

using ModelKey = std::pair<std::string, std::string>;

// Null for models of which there are several by one name, in different namespaces.
std::map<ModelKey, const LiveModelAnswer*> ByName(const LiveAnswer& answer) {
  std::map<ModelKey, const LiveModelAnswer*> models;
  for (const LiveModelAnswer& model : answer.models) {
    const auto [it, added] = models.try_emplace({model.name, model.version}, &model);
    if (!added) it->second = nullptr;
  }
  return models;
}

// What rows are sorted by, apart from the name; unknown numbers come last.
double NumberOf(TopSort by, const TopRow& row) {
  switch (by) {
    case TopSort::kModel:
      return 0;
    case TopSort::kRequests:
      return row.requests_per_s.value_or(-1);
    case TopSort::kFailures:
      return row.failures_per_s.value_or(-1);
    case TopSort::kQueued:
      return row.serves ? static_cast<double>(row.queued) : -1;
    case TopSort::kBusy:
      return row.busy.value_or(-1);
    case TopSort::kQueueTime:
      return row.queue_p99.has_value() ? static_cast<double>(*row.queue_p99) : -1;
    case TopSort::kComputeTime:
      return row.compute_p99.has_value() ? static_cast<double>(*row.compute_p99) : -1;
  }
  return 0;
}

}  // namespace

TopView MakeTopView(const LiveAnswer* before, const LiveAnswer& now) {
  TopView view;
  view.restarted = before != nullptr && StartOf(*before) != StartOf(now);
  if (view.restarted) before = nullptr;
  view.server = absl::StrCat(now.server.name, " ", now.server.version);
  view.uptime_ns = now.server.uptime_ns;
  view.in_flight = now.server.in_flight;
  view.gpus = now.server.gpus;
  view.queued = now.server.queued;
  view.not_shown = now.not_shown;
  const double seconds = before == nullptr ? 0 : SecondsBetween(*before, now);
  const auto known =
      before == nullptr ? std::map<ModelKey, const LiveModelAnswer*>() : ByName(*before);
  const auto unique = ByName(now);
  for (const LiveModelAnswer& model : now.models) {
    TopRow row = RowOf(model);
    const ModelKey key(model.name, model.version);
    const auto earlier = known.find(key);
    if (earlier != known.end() && earlier->second != nullptr && unique.at(key) != nullptr &&
        IsSameModel(*earlier->second, model)) {
      AddRates(*earlier->second, model, seconds, &row);
      // Sums of the rows: the server's totals fall when a model is unloaded.
      view.requests_per_s = view.requests_per_s.value_or(0) + row.requests_per_s.value_or(0);
      view.failures_per_s = view.failures_per_s.value_or(0) + row.failures_per_s.value_or(0);
    }
    view.rows.push_back(std::move(row));
  }
  return view;
}

void SortRows(TopSort by, std::vector<TopRow>* rows) {
  const auto key = [by](const TopRow& row) {
    return std::make_tuple(-NumberOf(by, row), row.model, row.version.size(), row.version);
  };
  std::stable_sort(rows->begin(), rows->end(),
                   [&](const TopRow& a, const TopRow& b) { return key(a) < key(b); });
}

}  // namespace nereid
