// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/string_view.h>

#include "base/json_writer.h"
#include "capacity/capacity_text.h"

namespace nereid {
namespace {

// Writes members of an object.
class Members {
 public:
  explicit Members(JsonWriter* json) : json_(*json) {}

  void Number(const char* name, double value) { json_.Add(name, value); }
  void Whole(const char* name, uint64_t value) { json_.Add(name, value); }
  void Text(const char* name, absl::string_view value) { json_.Add(name, value); }
  template <typename Rows, typename Write>
  void Objects(const char* name, const Rows& rows, const Write& write) {
    json_.BeginArray(name);
    for (const auto& row : rows) {
      json_.BeginObject();
      write(row);
      json_.EndObject();
    }
    json_.EndArray();
  }

 private:
  JsonWriter& json_;
};

void WriteNode(const CapacityOptions& options, const MeasuredNode& node, Members* to) {
  const ServiceTimes& times = node.times;
  const int size = static_cast<int>(options.load.batch_size);
  to->Text("model", options.model);
  to->Text("configuration", NameOf(node.candidate));
  to->Number("execution_us", times.BatchUs(size));
  to->Number("overhead_us", times.overhead_us);
  to->Whole("processors", static_cast<uint64_t>(times.processors));
  if (times.processors > 0 && times.cpu_us > 0) {
    to->Number("requests_per_processor", times.MostThroughput(1, size) / times.processors);
  }
  if (node.memory_mib > 0) to->Number("memory_mib", node.memory_mib);
}

void WriteRow(const FleetRow& row, Members* to) {
  const FleetSummary& summary = row.summary;
  to->Whole("nodes", row.nodes);
  to->Number("throughput", summary.throughput);
  to->Number("p50_us", row.p50_us);
  to->Number("p99_us", row.p99_us);
  to->Whole("late", summary.late);
  to->Whole("unserved", summary.unserved);
  to->Number("busy", summary.busy);
  to->Number("mean_batch", summary.mean_batch);
  to->Number("node_seconds", row.node_seconds);
  to->Whole("most_nodes", summary.most_nodes);
}

}  // namespace

std::string CapacityJson(const CapacityOptions& options, const CapacityResult& result) {
  std::string text;
  JsonWriter json(&text);
  Members to(&json);
  json.BeginObject();
  WriteNode(options, result.node, &to);
  to.Objects("alone", result.alone, [&to](const Performance& row) {
    to.Whole("clients", static_cast<uint64_t>(row.concurrency));
    to.Number("throughput", row.throughput);
    to.Number("p50_us", row.p50_us);
    to.Number("p99_us", row.p99_us);
    to.Number("mean_batch", row.mean_batch);
  });
  if (!result.rows.empty()) {
    to.Whole("requests", result.requests);
    to.Number("seconds", result.seconds);
    to.Objects("fleets", result.rows, [&to](const FleetRow& row) { WriteRow(row, &to); });
  }
  if (result.chosen.has_value()) to.Whole("nodes_needed", result.rows[*result.chosen].nodes);
  if (!result.periods.empty()) {
    to.Objects("periods", result.periods, [&to](const FleetPeriod& period) {
      to.Number("from_seconds", period.from_seconds);
      to.Number("rate", period.rate);
      to.Number("ready", period.ready);
      to.Number("all_nodes", period.all);
      to.Number("p99_us", period.p99_us);
      to.Whole("late", period.late);
    });
  }
  json.EndObject();
  return text + "\n";
}

}  // namespace nereid
