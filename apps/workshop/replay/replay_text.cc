// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "base/json_writer.h"
#include "scheduling/batch.h"

namespace nereid {
namespace {

double Millis(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

double Share(const VirtualReplay& replay) {
  if (replay.compared == 0) return 1;
  return static_cast<double>(replay.reproduced) / static_cast<double>(replay.compared);
}

std::string SummaryLine(const char* name, const SimulationSummary& summary) {
  return absl::StrFormat("  %-13s %9.3f ms %9.3f ms %9.3f ms %11.2f\n", name,
                         Millis(summary.p50_ns), Millis(summary.p90_ns), Millis(summary.p99_ns),
                         summary.mean_batch);
}

void WriteSummary(const char* name, const SimulationSummary& summary, JsonWriter* w) {
  w->BeginObject(name);
  w->Add("executed", summary.executed);
  w->Add("p50_ns", summary.p50_ns);
  w->Add("p90_ns", summary.p90_ns);
  w->Add("p99_ns", summary.p99_ns);
  w->Add("mean_batch", summary.mean_batch);
  w->EndObject();
}

void WriteBatch(const SimulatedBatch& batch, JsonWriter* w) {
  w->BeginObject();
  w->Add("pulled_ns", batch.pulled_ns);
  w->Add("ended_ns", batch.ended_ns);
  w->Add("instance", batch.instance);
  w->Add("reason", NameOf(batch.why));
  w->BeginArray("members");
  for (const uint32_t member : batch.members) w->Uint(member);
  w->EndArray();
  w->EndObject();
}

}  // namespace

std::string ReplayText(const RecordedModel& model, const CompiledModel& config,
                       const VirtualReplay& replay) {
  std::string text = absl::StrFormat(
      "Model %s version %u: %u requests, %u executions recorded\n\n"
      "  instances     %u\n"
      "  reproduced    %u of %u executions (%.1f %%)\n",
      model.name, model.version, model.requests.size(), model.batches.size(),
      config.instances.size(), replay.reproduced, replay.compared, 100 * Share(replay));
  if (replay.left_out_requests > 0) {
    absl::StrAppend(&text, "  left out      ", replay.left_out_requests,
                    " requests that were cancelled or answered from the cache\n");
  }
  if (replay.incomplete_batches > 0) {
    absl::StrAppend(&text, "  not compared  ", replay.incomplete_batches,
                    " executions whose requests are not all recorded\n");
  }
  if (replay.rate_limited_batches > 0) {
    absl::StrAppend(&text, "  not replayed  the rate limiter, for which ",
                    replay.rate_limited_batches, " of the recorded executions waited\n");
  }
  if (replay.strategy_batches > 0) {
    absl::StrAppend(&text, "  not replayed  the model's own batching, which closed ",
                    replay.strategy_batches, " of the recorded batches\n");
  }
  if (!replay.first_difference.empty()) {
    absl::StrAppend(&text, "  difference    ", replay.first_difference, "\n");
  }
  absl::StrAppend(&text, "\n                         p50          p90          p99  mean batch\n",
                  SummaryLine("recorded", replay.recorded), SummaryLine("virtual", replay.summary));
  return text;
}

std::string ReplayJson(const RecordedModel& model, const CompiledModel& config,
                       const VirtualReplay& replay) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  w.Add("model", model.name);
  w.Add("version", model.version);
  w.Add("instances", config.instances.size());
  w.Add("requests", replay.load.size());
  w.Add("left_out_requests", replay.left_out_requests);
  w.Add("incomplete_batches", replay.incomplete_batches);
  w.Add("rate_limited_batches", replay.rate_limited_batches);
  w.Add("strategy_batches", replay.strategy_batches);
  w.Add("compared", replay.compared);
  w.Add("reproduced", replay.reproduced);
  w.Add("first_difference", replay.first_difference);
  WriteSummary("recorded", replay.recorded, &w);
  WriteSummary("virtual", replay.summary, &w);
  w.BeginArray("batches");
  for (const SimulatedBatch& batch : replay.result.batches) WriteBatch(batch, &w);
  w.EndArray();
  w.EndObject();
  return text + "\n";
}

}  // namespace nereid
