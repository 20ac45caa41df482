// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/fast_json_reader.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace nereid {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// A thread keeps its parser, but frees the memory that a large document needed.
constexpr size_t kKeptParserCapacity = size_t{4} << 20;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Reads one document. Every method returns false to leave the document to the careful reader.
class FastReader {
 public:
  FastReader(const TensorBounds& bounds, RequestBuffers* buffers, V2Document* document)
      : bounds_(bounds), buffers_(buffers), document_(document) {}

  bool ReadRoot(ondemand::object root);

 private:
  bool ReadParameter(ondemand::field field);
  bool ReadParameters(ondemand::value value);
  bool ReadInputs(ondemand::value value);
  bool ReadInput(ondemand::object object, RequestBuffers* buffers, V2Input* out);
  bool CountInput(ondemand::object object);
  bool ReadInputParameters(ondemand::value value, V2Input* input);
  bool ReadEarlyData(ondemand::object object, RequestBuffers* buffers, V2Input* input);
  bool ReadOutputs(ondemand::value value);
  bool ReadOutput(ondemand::object object, OutputFormats::Named* out);
  bool ReadOutputParameters(ondemand::value value, OutputFormat* format);

  const TensorBounds bounds_;
  RequestBuffers* const buffers_;
  V2Document* const document_;
};

// The members of an object seen so far. A duplicate is left to the careful reader, which uses the
// first.
class Seen {
 public:
  bool First(uint32_t member) {
    const bool first = (bits_ & member) == 0;
    bits_ |= member;
    return first;
  }
  bool Has(uint32_t members) const { return (bits_ & members) == members; }

 private:
  uint32_t bits_ = 0;
};

// Unknown members: scalars are checked and skipped. Containers are left to the careful reader, as
// are keys with escapes, because keys are compared in their raw form.
bool SkipUnknown(ondemand::raw_json_string key, ondemand::value value) {
  for (const char* at = key.raw(); *at != '"'; ++at) {
    if (*at == '\\') return false;
  }
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  switch (type) {
    case ondemand::json_type::string:
      return value.get_string().error() == simdjson::SUCCESS;
    case ondemand::json_type::number:
      return value.get_double().error() == simdjson::SUCCESS;
    case ondemand::json_type::boolean:
      return value.get_bool().error() == simdjson::SUCCESS;
    case ondemand::json_type::null: {
      bool null = false;
      return value.is_null().get(null) == simdjson::SUCCESS && null;
    }
    default:
      return false;
  }
}

bool ReadShape(ondemand::value value, Shape* shape) {
  ondemand::array dims;
  if (value.get_array().get(dims)) return false;
  for (auto item : dims) {
    uint64_t dim;
    if (item.get_uint64().get(dim)) return false;
    if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
    if (shape->size() == kMaxDimensions) return false;
    shape->push_back(static_cast<int64_t>(dim));
  }
  return true;
}

bool ReadDataType(ondemand::value value, DataType* type) {
  std::string_view text;
  if (value.get_string().get(text)) return false;
  *type = ParseDataType(View(text));
  return true;
}

bool FastReader::ReadParameter(ondemand::field field) {
  std::string_view key;
  if (field.unescaped_key().get(key)) return false;
  ondemand::value value = field.value();
  V2Document& d = *document_;
  switch (ReservedParameterOf(View(key))) {
    case ReservedParameter::kSequenceId: {
      uint64_t number;
      if (!value.get_uint64().get(number)) {
        d.correlation_id = CorrelationId(number);
        return true;
      }
      std::string text;
      if (!ReadStringFast(value, &text)) return false;
      d.correlation_id = CorrelationId(std::move(text));
      return true;
    }
    case ReservedParameter::kSequenceStart:
      return value.get_bool().get(d.sequence_start) == simdjson::SUCCESS;
    case ReservedParameter::kSequenceEnd:
      return value.get_bool().get(d.sequence_end) == simdjson::SUCCESS;
    case ReservedParameter::kPriority:
      return value.get_uint64().get(d.priority) == simdjson::SUCCESS;
    case ReservedParameter::kTimeout:
      return value.get_uint64().get(d.timeout_us) == simdjson::SUCCESS;
    case ReservedParameter::kBinaryDataOutput:
      return value.get_bool().get(d.outputs.fallback.binary) == simdjson::SUCCESS;
    case ReservedParameter::kNonFinite:
      return ReadNonFiniteFast(value, &d.outputs.non_finite);
    case ReservedParameter::kNone:
      break;
  }
  if (key.size() > kMaxNameBytes) return false;
  if (View(key).substr(0, kRefusedKeyPrefix.size()) == kRefusedKeyPrefix) return false;
  Parameter parameter{std::string(key), {}};
  if (!ReadParameterFast(value, &parameter.value)) return false;
  d.parameters.push_back(std::move(parameter));
  return true;
}

bool FastReader::ReadParameters(ondemand::value value) {
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  size_t count = 0;
  for (auto item : object) {
    ondemand::field field;
    if (++count > kMaxParameters || std::move(item).get(field) || !ReadParameter(field)) {
      return false;
    }
  }
  return true;
}

bool FastReader::ReadInputParameters(ondemand::value value, V2Input* input) {
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  size_t count = 0;
  for (auto item : object) {
    ondemand::field field;
    if (++count > kMaxParameters || std::move(item).get(field)) return false;
    const ondemand::raw_json_string key = field.key();
    if (key == "shared_memory_region") return false;
    if (key == "binary_data_size") {
      if (input->binary || field.value().get_uint64().get(input->byte_size)) return false;
      input->binary = true;
    } else if (!SkipUnknown(key, field.value())) {
      return false;
    }
  }
  return true;
}

// `data` came before the members that are needed to read it: goes through the object again.
bool FastReader::ReadEarlyData(ondemand::object object, RequestBuffers* buffers, V2Input* input) {
  if (object.reset().error()) return false;
  for (auto item : object) {
    ondemand::field field;
    if (std::move(item).get(field)) return false;
    if (field.key() == "data" && !ReadTensorFast(field.value(), bounds_, buffers, input)) {
      return false;
    }
  }
  return true;
}

bool FastReader::ReadInput(ondemand::object object, RequestBuffers* buffers, V2Input* out) {
  constexpr uint32_t kName = 1, kType = 2, kShape = 4, kData = 8, kParameters = 16;
  V2Input& input = *out;
  Seen seen;
  bool early_data = false;
  for (auto item : object) {
    ondemand::field field;
    if (std::move(item).get(field)) return false;
    const ondemand::raw_json_string key = field.key();
    const ondemand::value value = field.value();
    bool ok;
    if (key == "name") {
      ok = seen.First(kName) && ReadStringFast(value, &input.name);
    } else if (key == "datatype") {
      ok = seen.First(kType) && ReadDataType(value, &input.data_type);
    } else if (key == "shape") {
      ok = seen.First(kShape) && ReadShape(value, &input.shape);
    } else if (key == "data") {
      ok = seen.First(kData);
      early_data = !seen.Has(kType | kShape);
      if (ok && !early_data) ok = ReadTensorFast(value, bounds_, buffers, &input);
    } else if (key == "parameters") {
      // Not read into `input`: `data` may have set byte_size. Both together are an error.
      V2Input source;
      ok = seen.First(kParameters) && ReadInputParameters(value, &source);
      if (ok && source.binary) {
        ok = !seen.Has(kData);
        input.binary = true;
        input.byte_size = source.byte_size;
      }
    } else {
      ok = SkipUnknown(key, value);
    }
    if (!ok) return false;
  }
  if (!seen.Has(kName | kType | kShape) || seen.Has(kData) == input.binary) return false;
  return !early_data || ReadEarlyData(object, buffers, &input);
}

// Checks and counts an input beyond the number of inputs that are kept.
bool FastReader::CountInput(ondemand::object object) {
  V2Input input;
  RequestBuffers buffers;
  ++document_->unkept_inputs;
  return ReadInput(object, &buffers, &input);
}

bool FastReader::ReadInputs(ondemand::value value) {
  ondemand::array array;
  if (value.get_array().get(array)) return false;
  for (auto item : array) {
    ondemand::object object;
    if (item.get_object().get(object)) return false;
    if (!document_->KeepsInput()) {
      if (!CountInput(object)) return false;
      continue;
    }
    document_->inputs.emplace_back();
    if (!ReadInput(object, buffers_, &document_->inputs.back())) return false;
  }
  return true;
}

bool FastReader::ReadOutputParameters(ondemand::value value, OutputFormat* format) {
  constexpr uint32_t kBinary = 1, kClassification = 2;
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  Seen seen;
  size_t count = 0;
  for (auto item : object) {
    ondemand::field field;
    if (++count > kMaxParameters || std::move(item).get(field)) return false;
    const ondemand::raw_json_string key = field.key();
    if (key == "shared_memory_region") return false;
    if (key == "binary_data") {
      if (!seen.First(kBinary) || field.value().get_bool().get(format->binary)) return false;
    } else if (key == "classification") {
      if (!seen.First(kClassification)) return false;
      if (field.value().get_uint64().get(format->classification)) return false;
    } else if (!SkipUnknown(key, field.value())) {
      return false;
    }
  }
  return true;
}

bool FastReader::ReadOutput(ondemand::object object, OutputFormats::Named* out) {
  constexpr uint32_t kName = 1, kParameters = 2;
  OutputFormats::Named& output = *out;
  Seen seen;
  for (auto item : object) {
    ondemand::field field;
    if (std::move(item).get(field)) return false;
    const ondemand::raw_json_string key = field.key();
    bool ok;
    if (key == "name") {
      ok = seen.First(kName) && ReadStringFast(field.value(), &output.name);
    } else if (key == "parameters") {
      ok = seen.First(kParameters) && ReadOutputParameters(field.value(), &output.format);
    } else {
      ok = SkipUnknown(key, field.value());
    }
    if (!ok) return false;
  }
  return seen.Has(kName);
}

bool FastReader::ReadOutputs(ondemand::value value) {
  ondemand::array array;
  if (value.get_array().get(array)) return false;
  for (auto item : array) {
    ondemand::object object;
    if (item.get_object().get(object)) return false;
    OutputFormats::Named unkept;
    const bool kept = document_->KeepsOutput();
    if (kept) document_->outputs.named.emplace_back();
    if (!ReadOutput(object, kept ? &document_->outputs.named.back() : &unkept)) return false;
  }
  return true;
}

bool FastReader::ReadRoot(ondemand::object root) {
  constexpr uint32_t kId = 1, kParameters = 2, kInputs = 4, kOutputs = 8;
  Seen seen;
  for (auto item : root) {
    ondemand::field field;
    if (std::move(item).get(field)) return false;
    const ondemand::raw_json_string key = field.key();
    const ondemand::value value = field.value();
    bool ok;
    if (key == "inputs") {
      ok = seen.First(kInputs) && ReadInputs(value);
    } else if (key == "outputs") {
      ok = seen.First(kOutputs) && ReadOutputs(value);
    } else if (key == "id") {
      ok = seen.First(kId) && ReadStringFast(value, &document_->id);
    } else if (key == "parameters") {
      ok = seen.First(kParameters) && ReadParameters(value);
    } else {
      ok = SkipUnknown(key, value);
    }
    if (!ok) return false;
  }
  return seen.Has(kInputs);
}

}  // namespace

bool ReadStringFast(ondemand::value value, std::string* out, size_t limit) {
  std::string_view text;
  if (value.get_string().get(text) || text.size() > limit) return false;
  out->assign(text.data(), text.size());
  return true;
}

bool ReadNonFiniteFast(ondemand::value value, NonFinite* out) {
  std::string_view text;
  if (value.get_string().get(text)) return false;
  const std::optional<NonFinite> read = ParseNonFinite(View(text));
  if (read.has_value()) *out = *read;
  return read.has_value();
}

bool ReadParameterFast(ondemand::value value, ParameterValue* out) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  if (type == ondemand::json_type::string) {
    return ReadStringFast(value, &out->emplace<std::string>(), kMaxParameterBytes);
  }
  if (type == ondemand::json_type::boolean) {
    return value.get_bool().get(out->emplace<bool>()) == simdjson::SUCCESS;
  }
  // Not get_number(): in simdjson 3.0.1 it returns 0 for fractions of more than 19 digits.
  if (type != ondemand::json_type::number) return false;
  if (!value.get_int64().get(out->emplace<int64_t>())) return true;
  return ReadDoubleFast(value, &out->emplace<double>());
}

bool ReadObjectFast(absl::string_view json, absl::FunctionRef<bool(ondemand::object root)> read) {
  thread_local ondemand::parser parser;
  // Grown by doubling, so that texts of slowly growing size do not allocate each time.
  if (parser.capacity() < json.size() && json.size() <= kKeptParserCapacity &&
      parser.allocate(std::bit_ceil(json.size()))) {
    return false;
  }
  bool done = false;
  {
    ondemand::document text;
    ondemand::object root;
    done = !parser.iterate(json.data(), json.size(), json.size() + kJsonPadding).get(text) &&
           !text.get_object().get(root) && read(root) &&
           text.current_location().error() == simdjson::OUT_OF_BOUNDS;
  }
  if (parser.capacity() > kKeptParserCapacity) parser = ondemand::parser();
  return done;
}

bool ReadJsonFast(absl::string_view json, const RequestLimits& limits, RequestBuffers* buffers,
                  V2Document* document) {
  const TensorBounds bounds = BoundsFor(json, limits);
  return ReadObjectFast(json, [&](ondemand::object root) {
    return FastReader(bounds, buffers, document).ReadRoot(root);
  });
}

}  // namespace nereid
