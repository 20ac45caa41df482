// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/types/span.h>

#include <algorithm>
#include <functional>
#include <map>

#include "api/json_members.h"
#include "explain/sentences.h"

namespace nereid {
namespace {

constexpr size_t kBarWidth = 40;
constexpr size_t kMostNames = 8;
constexpr size_t kSlowest = 3;     // requests that a model's text tells
constexpr size_t kLongestId = 38;  // the server keeps so much of longer ones
// Instances that work for less than this share of the time are not what requests wait for.
constexpr double kBusy = 0.8;

std::string Bold(const std::string& text, bool colour) {
  return colour ? absl::StrCat("\033[1m", text, "\033[0m") : text;
}

std::string Bar(double share, bool colour) {
  const auto length = static_cast<size_t>(share * kBarWidth + 0.5);
  if (length == 0) return "";
  const std::string bar(length, '#');
  return colour ? absl::StrCat("  \033[36m", bar, "\033[0m") : absl::StrCat("  ", bar);
}

std::string Millis(uint64_t ns) {
  return absl::StrFormat("%.3f ms", static_cast<double>(ns) / 1e6);
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

int Percent(double share) { return static_cast<int>(share * 100 + 0.5); }

std::string Plural(uint64_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

std::string PhaseLines(const ShownRequest& request, bool colour) {
  std::string text;
  for (const auto& [phase, ns] : request.phases_ns) {
    const double share = Share(ns, request.latency_ns);
    absl::StrAppend(
        &text, absl::StrFormat("  %-15s %12s %4d %%", Clean(phase), Millis(ns), Percent(share)),
        Bar(share, colour), "\n");
  }
  return text;
}

std::string Names(const std::vector<std::string>& members) {
  std::vector<std::string> names;
  for (const std::string& member : members) {
    if (names.size() == kMostNames) break;
    names.push_back(member.empty() ? "without id" : Clean(member));
  }
  return absl::StrCat(absl::StrJoin(names, ", "), members.size() > kMostNames ? ", ..." : "");
}

std::string ExecutionLines(const ShownExecution& execution) {
  std::string text = absl::StrCat(
      "It ran in execution ", execution.number, " of instance ", Clean(execution.instance),
      execution.by_caller ? ", on the thread that brought it" : "", ": ",
      execution.requests == 1 ? "alone"
                              : absl::StrCat(Plural(execution.requests, "request"), " together"),
      ", ", Plural(execution.units, "element"));
  if (execution.requests > 1 && !execution.members.empty()) {
    absl::StrAppend(&text, " (", Names(execution.members), ")");
  }
  absl::StrAppend(&text, ", for ",
                  Millis(execution.end_ns - std::min(execution.end_ns, execution.start_ns)), ".\n");
  if (const absl::string_view because = BecauseOf(execution.reason); !because.empty()) {
    absl::StrAppend(&text, "The batch left the queue ", because, ".\n");
  }
  if (execution.failed) absl::StrAppend(&text, "The backend refused the execution.\n");
  return text;
}

std::string SequenceLine(const ShownRequest& request) {
  if (request.sequence.empty()) return "";
  return absl::StrCat(
      "It belonged to sequence ", Clean(request.sequence),
      request.sequence_slot.has_value()
          ? absl::StrCat(", which had slot ", *request.sequence_slot, " of the instance")
          : "",
      ".\n");
}

using NamedPhase = std::pair<std::string, uint64_t>;

// Null: the request has no phase.
const NamedPhase* GreatestPhase(const ShownRequest& request) {
  const auto greatest = std::max_element(
      request.phases_ns.begin(), request.phases_ns.end(),
      [](const NamedPhase& a, const NamedPhase& b) { return a.second < b.second; });
  return greatest == request.phases_ns.end() ? nullptr : &*greatest;
}

std::string GreatestPart(const ShownRequest& request) {
  const NamedPhase* const greatest = GreatestPhase(request);
  if (greatest == nullptr) return "";
  return absl::StrCat("It spent the largest part of its time (",
                      Percent(Share(greatest->second, request.latency_ns)), " %) ",
                      DoingIn(greatest->first), ".\n");
}

// ---- Models.

using Times = std::vector<uint64_t>;

// The value of that rank; `sorted` is not empty.
uint64_t Quantile(const Times& sorted, double quantile) {
  const double rank = quantile * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(rank + 0.5)];
}

std::string QuantileLine(absl::string_view name, Times times, const std::string& rest) {
  std::sort(times.begin(), times.end());
  return absl::StrFormat("  %-15s %12s %12s %12s%s\n", Clean(name), Millis(Quantile(times, 0.5)),
                         Millis(Quantile(times, 0.9)), Millis(Quantile(times, 0.99)), rest);
}

// "full 60 %, delay_over 40 %": what is counted, most frequent first.
std::string Shares(const std::map<std::string, uint64_t>& counts, uint64_t whole) {
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.emplace_back(count, name);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  std::vector<std::string> texts;
  for (const auto& [count, name] : sorted) {
    texts.push_back(absl::StrCat(Clean(name), " ", Percent(Share(count, whole)), " %"));
  }
  return absl::StrJoin(texts, ", ");
}

std::string MostFrequent(const std::map<std::string, uint64_t>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

// Share of their time that the instances have executed.
double BusyShare(const ShownTimeline& timeline) {
  uint64_t first = ~uint64_t{0};
  uint64_t last = 0;
  uint64_t busy = 0;
  for (const ShownExecution& execution : timeline.executions) {
    if (execution.end_ns < execution.start_ns) continue;
    first = std::min(first, execution.start_ns);
    last = std::max(last, execution.end_ns);
    busy += execution.end_ns - execution.start_ns;
  }
  if (last <= first || timeline.instances == 0) return 0;
  return Share(busy, (last - first) * timeline.instances);
}

struct Batches {
  std::map<std::string, uint64_t> reasons;
  std::map<uint64_t, uint64_t> sizes;  // units: executions
};

Batches CountBatches(const ShownTimeline& timeline) {
  Batches batches;
  for (const ShownExecution& execution : timeline.executions) {
    ++batches.reasons[execution.reason];
    ++batches.sizes[execution.units];
  }
  return batches;
}

std::string BatchLines(const ShownTimeline& timeline, const Batches& batches) {
  if (timeline.executions.empty()) return "";
  const uint64_t whole = timeline.executions.size();
  std::vector<std::string> sizes;
  for (const auto& [size, count] : batches.sizes) {
    sizes.push_back(absl::StrCat(size, ": ", Percent(Share(count, whole)), " %"));
  }
  return absl::StrCat("  batch sizes     ", absl::StrJoin(sizes, ", "), "\n  left because    ",
                      Shares(batches.reasons, whole), "\n  instances       ", timeline.instances,
                      ", busy ", Percent(BusyShare(timeline)), " %\n");
}

// "1 of 4, full": how many requests were in the batch of that one, and why it left its queue.
std::string BatchOf(const ShownRequest& request, const ShownTimeline& timeline) {
  for (const ShownExecution& execution : timeline.executions) {
    if (execution.number != request.batch || execution.instance != request.instance) continue;
    return absl::StrCat(
        execution.requests == 1 ? "alone" : absl::StrCat("1 of ", execution.requests), ", ",
        Clean(execution.reason));
  }
  return "";
}

// A line for each of the slowest requests, since those are looked for.
std::string SlowestLines(const ShownTimeline& timeline) {
  std::vector<const ShownRequest*> requests;
  for (const ShownRequest& request : timeline.requests) requests.push_back(&request);
  const size_t shown = std::min(requests.size(), kSlowest);
  std::partial_sort(
      requests.begin(), requests.begin() + static_cast<ptrdiff_t>(shown), requests.end(),
      [](const ShownRequest* a, const ShownRequest* b) { return a->latency_ns > b->latency_ns; });
  std::string text = absl::StrFormat("\n  %-15s %12s  %-19s  %-25s  %s\n", "slowest", "ago",
                                     "most of it in", "batch", "id");
  for (const ShownRequest* request : absl::MakeSpan(requests).subspan(0, shown)) {
    const NamedPhase* const phase = GreatestPhase(*request);
    const uint64_t end = request->start_ns + request->latency_ns;
    absl::StrAppend(
        &text,
        absl::StrFormat(
            "  %-15s %12s  %-19s  %-25s  %s\n", Millis(request->latency_ns),
            timeline.now_ns < end
                ? ""
                : absl::StrFormat("%.1f s", static_cast<double>(timeline.now_ns - end) / 1e9),
            phase == nullptr
                ? ""
                : absl::StrCat(Clean(phase->first), " ",
                               Percent(Share(phase->second, request->latency_ns)), " %"),
            BatchOf(*request, timeline),
            request->id.empty() ? "none" : Clean(request->id).substr(0, kLongestId)));
  }
  return text;
}

// What the waits for the queue mean, where the queue is the greatest part.
std::string QueueAdvice(const ShownTimeline& timeline) {
  const int busy = Percent(BusyShare(timeline));
  if (BusyShare(timeline) >= kBusy) {
    return absl::StrCat("The instances are busy ", busy,
                        " % of the time: requests wait for an instance. More instances, larger "
                        "batches or a quicker model shorten that.\n");
  }
  return absl::StrCat("The instances are busy only ", busy,
                      " % of the time: requests wait for each other (the queue delay) or come in "
                      "bursts.\n");
}

}  // namespace

std::string ExplainRequestText(const ShownRequest& request, bool colour) {
  const std::string title = absl::StrCat(
      "Request '", Clean(request.id), "' of model ", Clean(request.model), " version ",
      Clean(request.version), ": ", Clean(request.outcome), " in ", Millis(request.latency_ns));
  std::string text = absl::StrCat(Bold(title, colour), "\n\n", PhaseLines(request, colour), "\n");
  if (request.execution.has_value()) text += ExecutionLines(*request.execution);
  text += SequenceLine(request);
  text += GreatestPart(request);
  for (const ShownRequest& step : request.steps) {
    absl::StrAppend(&text, "\nStep: ", ExplainRequestText(step, colour));
  }
  return text;
}

std::string ExplainModelText(const ShownTimeline& timeline, bool colour) {
  std::map<std::string, uint64_t> outcomes;
  std::map<std::string, Times> phases;
  std::map<std::string, uint64_t> sums;
  std::vector<std::string> order;  // of phases, as they happen
  Times latencies;
  uint64_t whole = 0;
  for (const ShownRequest& request : timeline.requests) {
    ++outcomes[request.outcome];
    latencies.push_back(request.latency_ns);
    whole += request.latency_ns;
    for (const auto& [phase, ns] : request.phases_ns) {
      phases[phase].push_back(ns);
      sums[phase] += ns;
    }
  }
  // Requests without a phase spent no time there.
  for (auto& [phase, times] : phases) {
    times.resize(timeline.requests.size(), 0);
    order.push_back(phase);
  }
  std::sort(order.begin(), order.end(),
            [&](const std::string& a, const std::string& b) { return sums[a] > sums[b]; });
  const Batches batches = CountBatches(timeline);
  const std::string title =
      absl::StrCat("Model ", Clean(timeline.model), " version ", Clean(timeline.version),
                   ": the last ", Plural(timeline.requests.size(), "request"), " and ",
                   Plural(timeline.executions.size(), "execution"));
  std::string text = absl::StrCat(
      Bold(title, colour), "\n\n  outcomes        ", Shares(outcomes, timeline.requests.size()),
      "\n", BatchLines(timeline, batches), "\n",
      absl::StrFormat("  %-15s %12s %12s %12s  share\n", "", "p50", "p90", "p99"));
  for (const std::string& phase : order) {
    const double share = Share(sums[phase], whole);
    text +=
        QuantileLine(phase, phases[phase],
                     absl::StrCat(absl::StrFormat(" %4d %%", Percent(share)), Bar(share, colour)));
  }
  text += QuantileLine("latency", latencies, "");
  text += SlowestLines(timeline);
  if (order.empty()) return text;
  absl::StrAppend(&text, "\nRequests spend the largest part of their time (",
                  Percent(Share(sums[order[0]], whole)), " %) ", DoingIn(order[0]), ".\n");
  if (order[0] == "queue") text += QueueAdvice(timeline);
  const absl::string_view advice = AdviceOnReason(MostFrequent(batches.reasons));
  if (!advice.empty()) absl::StrAppend(&text, advice, "\n");
  return text;
}

}  // namespace nereid
