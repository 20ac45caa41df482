// SPDX-License-Identifier: Apache-2.0
#include "server/recording_lines.h"

#include <absl/strings/escaping.h>

#include "base/json_writer.h"
#include "scheduling/batch.h"
#include "server/recorded_json.h"

namespace nereid {
namespace {

constexpr uint64_t kVersion = 1;

// An object whose zeros and empty texts are left out.
class Line {
 public:
  explicit Line(const char* kind, uint64_t number) {
    w_.BeginObject();
    w_.Add(kind, number);
  }
  Line& Add(const char* key, uint64_t number) {
    if (number == 0) return *this;
    w_.Add(key, number);
    return *this;
  }
  Line& Add(const char* key, absl::string_view text) {
    if (text.empty()) return *this;
    w_.Add(key, text);
    return *this;
  }
  Line& AddJson(const char* key, absl::string_view json) {
    w_.AddRaw(key, json);
    return *this;
  }
  std::string End() {
    w_.EndObject();
    return std::move(text_) + "\n";
  }

 private:
  std::string text_;
  JsonWriter w_{&text_};
};

}  // namespace

std::string RecordingHeader(uint64_t now_ns, uint64_t wall_ms) {
  return Line("nereid_recording", kVersion).Add("now_ns", now_ns).Add("unix_ms", wall_ms).End();
}

std::string ModelLine(const ServingModel& model, uint64_t number) {
  return Line("model", number)
      .Add("name", absl::string_view(model.config().name))
      .Add("version", static_cast<uint64_t>(model.config().version))
      .AddJson("config", model.config().json)
      .End();
}

std::string RequestLine(const FlightRecord& flight, uint64_t model) {
  return Line("request", model)
      .Add("id", absl::string_view(ShownId(flight)))
      .Add("start", flight.request_start)
      .Add("queued", flight.queue_start)
      .Add("sent", flight.sent)
      .Add("instance", uint64_t{flight.instance})
      .Add("batch", flight.batch)
      .Add("size", uint64_t{flight.batch_size})
      .Add("priority", flight.priority)
      .Add("timeout_us", flight.timeout_us)
      .Add("sequence", flight.sequence)
      .Add("sequence_text", flight.sequence_text.text())
      .Add("flags", uint64_t{flight.flags})
      .Add("shapes", uint64_t{flight.shapes})
      .Add("outcome", absl::string_view(NameOf(flight.outcome)))
      .End();
}

std::string InputsLine(const KeptInputs& inputs, uint64_t model) {
  std::string list;
  JsonWriter w(&list);
  w.BeginArray();
  for (const KeptInput& input : inputs.inputs) {
    w.BeginObject();
    w.Add("name", input.name);
    w.Add("datatype", DataTypeName(input.data_type));
    w.BeginArray("shape");
    for (const int64_t dim : input.shape) w.Int(dim);
    w.EndArray();
    if (input.has_bytes) {
      w.Add("data", absl::Base64Escape(input.bytes));
    }
    w.EndObject();
  }
  w.EndArray();
  return Line("inputs", model).Add("start", inputs.request_start).AddJson("tensors", list).End();
}

std::string BatchLine(const BatchRecord& batch, uint64_t model) {
  return Line("batch", model)
      .Add("instance", uint64_t{batch.instance})
      .Add("number", batch.number)
      .Add("staged", batch.staged)
      .Add("pulled", batch.pulled)
      .Add("ended", batch.exec_end)
      .Add("requests", uint64_t{batch.requests})
      .Add("units", uint64_t{batch.units})
      .Add("fillers", uint64_t{batch.fillers})
      .Add("reason", absl::string_view(NameOf(static_cast<BatchReason>(batch.reason))))
      .End();
}

}  // namespace nereid
