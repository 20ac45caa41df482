// SPDX-License-Identifier: Apache-2.0
#include "replay/live_replay_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <string>

#include "base/json_writer.h"
#include "bench/json_report.h"
#include "bench/text_report.h"

namespace nereid {
namespace {

std::string Line(const char* name, const bench::Histogram& times) {
  const auto at = [&times](double fraction) {
    return static_cast<double>(times.Percentile(fraction)) * 1e-6;
  };
  return absl::StrFormat("  %-13s %9.3f ms %9.3f ms %9.3f ms %9.3f ms\n", name, at(0.5), at(0.9),
                         at(0.99), at(1));
}

}  // namespace

std::string LiveReplayText(const RecordedModel& model, const bench::BenchOptions& options,
                           const LiveReplay& replay) {
  const bench::RowResult& now = replay.now;
  std::string text =
      absl::StrFormat("Model %s version %u: %u requests recorded, sent to %s", model.name,
                      model.version, replay.requests, options.target.Url());
  if (replay.speed != 1) absl::StrAppend(&text, ", ", replay.speed, " times as fast");
  absl::StrAppend(&text, "\n\n  answered      ", now.latency.count(), "\n  errors        ",
                  now.errors.total(), "\n");
  if (replay.in_sequences > 0) {
    absl::StrAppend(&text, "  in sequences  ", replay.in_sequences, "\n");
  }
  if (replay.with_inputs > 0) {
    absl::StrAppend(&text, "  as recorded   ", replay.with_inputs, "\n");
  }
  absl::StrAppend(&text, "  seconds       ", bench::NumberText(now.seconds), "\n",
                  "\n                         p50          p90          p99          max\n",
                  Line("recorded", replay.recorded), Line("now", now.latency),
                  Line("sent late by", now.lag));
  bench::BenchOptions without_judgement = options;
  without_judgement.stability = 0;
  for (const std::string& remark : bench::Remarks(without_judgement, now)) {
    absl::StrAppend(&text, "\n", remark);
  }
  return text + (text.back() == '\n' ? "" : "\n");
}

std::string LiveReplayJson(const RecordedModel& model, const bench::BenchOptions& options,
                           const LiveReplay& replay) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  w.Add("model", model.name);
  w.Add("version", model.version);
  w.Add("url", options.target.Url());
  w.Add("speed", replay.speed);
  w.Add("requests", replay.requests);
  w.Add("in_sequences", replay.in_sequences);
  w.Add("with_recorded_inputs", replay.with_inputs);
  bench::WriteLatency("recorded_us", replay.recorded, &w);
  bench::WriteLatency("lag_us", replay.now.lag, &w);
  w.Key("now");
  bench::WriteRow(replay.now, &w);
  w.EndObject();
  return text + "\n";
}

}  // namespace nereid
