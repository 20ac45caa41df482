#include "replay/replay_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "base/json_writer.h"
#include "scheduling/batch_reason.h"

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
  w->Key(name);
  w->BeginObject();
  w->Key("executed");
  w->Uint(summary.executed);
  w->Key("p50_ns");
  w->Uint(summary.p50_ns);
  w->Key("p90_ns");
  w->Uint(summary.p90_ns);
  w->Key("p99_ns");
  w->Uint(summary.p99_ns);
  w->Key("mean_batch");
  w->Double(summary.mean_batch);
  w->EndObject();
}

void WriteBatch(const SimulatedBatch& batch, JsonWriter* w) {
  w->BeginObject();
  w->Key("pulled_ns");
  w->Uint(batch.pulled_ns);
  w->Key("ended_ns");
  w->Uint(batch.ended_ns);
  w->Key("instance");
  w->Uint(batch.instance);
  w->Key("reason");
  w->String(NameOf(batch.why));
  w->Key("members");
  w->BeginArray();
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
  w.Key("model");
  w.String(model.name);
  w.Key("version");
  w.Uint(model.version);
  w.Key("instances");
  w.Uint(config.instances.size());
  w.Key("requests");
  w.Uint(replay.load.size());
  w.Key("left_out_requests");
  w.Uint(replay.left_out_requests);
  w.Key("incomplete_batches");
  w.Uint(replay.incomplete_batches);
  w.Key("rate_limited_batches");
  w.Uint(replay.rate_limited_batches);
  w.Key("strategy_batches");
  w.Uint(replay.strategy_batches);
  w.Key("compared");
  w.Uint(replay.compared);
  w.Key("reproduced");
  w.Uint(replay.reproduced);
  w.Key("first_difference");
  w.String(replay.first_difference);
  WriteSummary("recorded", replay.recorded, &w);
  WriteSummary("virtual", replay.summary, &w);
  w.Key("batches");
  w.BeginArray();
  for (const SimulatedBatch& batch : replay.result.batches) WriteBatch(batch, &w);
  w.EndArray();
  w.EndObject();
  return text + "\n";
}

}  // namespace nereid
