// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/json_writer.h"

namespace nereid {
namespace {

uint64_t IdOf(const TracedEvent& event) {
  return std::visit([](const auto& of) { return of.id; }, event);
}

bool IsOfSpansOnly(const TracedEvent& event) {
  return std::holds_alternative<TracedBatch>(event) || std::holds_alternative<TracedError>(event);
}

void Comma(std::string* out) {
  if (!out->empty()) out->push_back(',');
}

template <typename T>
void AppendNumber(T value, std::string* out) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  out->append(text, static_cast<size_t>(end.ptr - text));
}

template <typename T>
void AppendNumbers(absl::string_view bytes, std::string* out) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    Comma(out);
    AppendNumber(value, out);
  }
}

// The number that 16 bits stand for, with 5 bits of exponent.
float HalfToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16U;
  const uint32_t exponent = (half >> 10U) & 0x1FU;
  const uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {  // zero, or without the leading one
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 127 - 15;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

void AppendShorts(DataType type, absl::string_view bytes, std::string* out) {
  for (size_t at = 0; at + sizeof(uint16_t) <= bytes.size(); at += sizeof(uint16_t)) {
    uint16_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    Comma(out);
    AppendNumber(
        type == DataType::kFp16 ? HalfToFloat(value) : std::bit_cast<float>(uint32_t{value} << 16U),
        out);
  }
}

// Each string stands behind its length of four bytes.
void AppendStrings(absl::string_view bytes, std::string* out) {
  bool first = true;
  while (bytes.size() >= sizeof(uint32_t)) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    const absl::string_view text = bytes.substr(0, length);
    bytes.remove_prefix(text.size());
    if (!first) out->push_back(',');
    first = false;
    absl::StrAppend(out, "\"", text, "\"");
  }
}

void AppendEvent(const TracedNames& names, JsonWriter* json) {
  json->Add("model_name", names.model_name);
  json->Add("model_version", names.model_version);
  if (!names.request_id.empty()) {
    json->Add("request_id", names.request_id);
  }
  if (names.parent_id != 0) {
    json->Add("parent_id", names.parent_id);
  }
}

void AppendEvent(const TracedTime& time, JsonWriter* json) {
  json->BeginArray("timestamps");
  json->BeginObject();
  json->Add("name", time.name);
  json->Add("ns", time.time_ns);
  json->EndObject();
  json->EndArray();
}

void AppendEvent(const TracedBatch&, JsonWriter*) {}
void AppendEvent(const TracedError&, JsonWriter*) {}

void AppendEvent(const TracedTensor& tensor, JsonWriter* json) {
  std::string data;
  AppendElements(tensor, &data);
  json->Add("activity", tensor.activity);
  json->BeginObject("tensor");
  json->Add("name", tensor.name);
  json->Add("data", data);
  json->Add("shape", absl::StrJoin(tensor.shape, ","));
  json->Add("dtype", DataTypeName(tensor.data_type));
  json->EndObject();
}

}  // namespace

void AppendElements(const TracedTensor& tensor, std::string* out) {
  std::string text;
  const absl::string_view bytes = tensor.bytes;
  switch (tensor.data_type) {
    case DataType::kBool:
    case DataType::kUint8:
      AppendNumbers<uint8_t>(bytes, &text);
      break;
    case DataType::kUint16:
      AppendNumbers<uint16_t>(bytes, &text);
      break;
    case DataType::kUint32:
      AppendNumbers<uint32_t>(bytes, &text);
      break;
    case DataType::kUint64:
      AppendNumbers<uint64_t>(bytes, &text);
      break;
    case DataType::kInt8:
      AppendNumbers<int8_t>(bytes, &text);
      break;
    case DataType::kInt16:
      AppendNumbers<int16_t>(bytes, &text);
      break;
    case DataType::kInt32:
      AppendNumbers<int32_t>(bytes, &text);
      break;
    case DataType::kInt64:
      AppendNumbers<int64_t>(bytes, &text);
      break;
    case DataType::kFp32:
      AppendNumbers<float>(bytes, &text);
      break;
    case DataType::kFp64:
      AppendNumbers<double>(bytes, &text);
      break;
    case DataType::kFp16:
    case DataType::kBf16:
      AppendShorts(tensor.data_type, bytes, &text);
      break;
    case DataType::kBytes:
      AppendStrings(bytes, &text);
      break;
    case DataType::kInvalid:
      break;
  }
  out->append(text);
}

void AppendTraceText(const FinishedTrace& trace, std::string* out) {
  std::vector<const TracedEvent*> events;
  events.reserve(trace.events.size());
  for (const TracedEvent& event : trace.events) {
    // The format has no place for batches and errors.
    if (!IsOfSpansOnly(event)) events.push_back(&event);
  }
  // Ids grow, so the client's request comes first.
  std::stable_sort(events.begin(), events.end(),
                   [](const auto* a, const auto* b) { return IdOf(*a) < IdOf(*b); });
  bool first = true;
  for (const TracedEvent* event : events) {
    if (!first) out->push_back(',');
    first = false;
    JsonWriter json(out);
    json.BeginObject();
    json.Add("id", IdOf(*event));
    std::visit([&](const auto& of) { AppendEvent(of, &json); }, *event);
    json.EndObject();
  }
}

}  // namespace nereid
