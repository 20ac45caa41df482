// SPDX-License-Identifier: Apache-2.0
#include "cache/packed_response.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "model/data_type.h"

namespace nereid {
namespace {

absl::Status Damaged() {
  return absl::InvalidArgumentError("the cached bytes are no response of this server");
}

class Writer {
 public:
  explicit Writer(char* to) : at_(to) {}

  template <typename Number>
  void Put(Number number) {
    PutBytes(&number, sizeof(number));
  }
  void PutText(absl::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    PutBytes(text.data(), text.size());
  }
  void PutBytes(const void* bytes, size_t size) {
    if (size > 0) std::memcpy(at_, bytes, size);
    at_ += size;
  }

 private:
  char* at_;
};

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : left_(bytes) {}

  template <typename Number>
  bool Get(Number* number) {
    if (left_.size() < sizeof(*number)) return false;
    std::memcpy(number, left_.data(), sizeof(*number));
    left_.remove_prefix(sizeof(*number));
    return true;
  }
  // A length of type Length, and as many bytes.
  template <typename Length>
  bool GetRun(absl::string_view* run) {
    Length length;
    if (!Get(&length) || length > left_.size()) return false;
    *run = left_.substr(0, length);
    left_.remove_prefix(length);
    return true;
  }
  bool empty() const { return left_.empty(); }

 private:
  absl::string_view left_;
};

absl::string_view DataOf(const ResponseOutput& output) {
  const OutputBuffer& buffer = output.buffer();
  return {static_cast<const char*>(buffer.base), buffer.base == nullptr ? 0 : buffer.byte_size};
}

size_t ShapeBytes(const ResponseOutput& output) { return output.shape().size() * sizeof(int64_t); }

// Size of one output, without the length before it.
size_t SizeOf(const ResponseOutput& output) {
  return 3 * sizeof(uint32_t) + output.name().size() +
         std::strlen(DataTypeName(output.data_type())) + ShapeBytes(output) + sizeof(uint64_t) +
         DataOf(output).size();
}

// The bytes of a parameter's value.
absl::string_view ValueBytes(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const size_t size = std::holds_alternative<bool>(value) ? sizeof(bool) : sizeof(int64_t);
  static_assert(sizeof(double) == sizeof(int64_t));
  return {static_cast<const char*>(ParameterValuePointer(value)), size};
}

size_t SizeOf(const Parameter& parameter) {
  return 2 * sizeof(uint32_t) + sizeof(uint8_t) + parameter.name.size() +
         ValueBytes(parameter.value).size();
}

absl::Status UnpackOutput(absl::string_view bytes, InferResponse* response) {
  Reader reader(bytes);
  absl::string_view name, type, dims, data;
  if (!reader.GetRun<uint32_t>(&name) || !reader.GetRun<uint32_t>(&type) ||
      !reader.GetRun<uint32_t>(&dims) || !reader.GetRun<uint64_t>(&data) || !reader.empty() ||
      dims.size() % sizeof(int64_t) != 0) {
    return Damaged();
  }
  Shape shape(dims.size() / sizeof(int64_t));
  if (!dims.empty()) std::memcpy(shape.data(), dims.data(), dims.size());
  const DataType data_type = ParseDataType(type);
  if (data_type == DataType::kInvalid) return Damaged();
  ASSIGN_OR_RETURN(ResponseOutput* const output, response->AddClientOutput(name, data_type, shape));
  RETURN_IF_ERROR(output->Allocate(data.size(), MemoryPlace{}));
  if (data.empty()) return absl::OkStatus();
  const OutputBuffer& buffer = output->buffer();
  if (buffer.base == nullptr || buffer.place.type == MemoryType::kGpu) {
    return absl::InvalidArgumentError(
        absl::StrCat("no CPU memory for output '", name, "' of a cached response"));
  }
  std::memcpy(buffer.base, data.data(), data.size());
  return absl::OkStatus();
}

template <typename Number>
bool ToValue(absl::string_view bytes, ParameterValue* value) {
  Number number;
  if (bytes.size() != sizeof(number)) return false;
  std::memcpy(&number, bytes.data(), sizeof(number));
  *value = number;
  return true;
}

bool ToValue(uint8_t kind, absl::string_view bytes, ParameterValue* value) {
  switch (kind) {
    case 0:
      *value = std::string(bytes);
      return true;
    case 1:
      return ToValue<int64_t>(bytes, value);
    case 2:
      if (bytes.size() != 1) return false;
      *value = bytes[0] != 0;
      return true;
    case 3:
      return ToValue<double>(bytes, value);
    default:
      return false;
  }
}

}  // namespace

absl::Status CheckPackable(const InferResponse& response) {
  for (const ResponseOutput& output : response.outputs()) {
    if (output.allocated() && output.buffer().place.type == MemoryType::kGpu) {
      return absl::InvalidArgumentError(
          "Only input buffers in CPU memory are allowed in cache currently");
    }
  }
  return absl::OkStatus();
}

size_t PackedSize(const InferResponse& response) {
  size_t size = 2 * sizeof(uint32_t);
  for (const ResponseOutput& output : response.outputs()) size += sizeof(uint64_t) + SizeOf(output);
  for (const Parameter& parameter : response.parameters()) size += SizeOf(parameter);
  return size;
}

void PackResponse(const InferResponse& response, char* to) {
  Writer writer(to);
  writer.Put(static_cast<uint32_t>(response.outputs().size()));
  for (const ResponseOutput& output : response.outputs()) {
    const absl::string_view data = DataOf(output);
    writer.Put(static_cast<uint64_t>(SizeOf(output)));
    writer.PutText(output.name());
    writer.PutText(DataTypeName(output.data_type()));
    writer.Put(static_cast<uint32_t>(ShapeBytes(output)));
    writer.PutBytes(output.shape().data(), ShapeBytes(output));
    writer.Put(static_cast<uint64_t>(data.size()));
    writer.PutBytes(data.data(), data.size());
  }
  writer.Put(static_cast<uint32_t>(response.parameters().size()));
  for (const Parameter& parameter : response.parameters()) {
    writer.PutText(parameter.name);
    writer.Put(static_cast<uint8_t>(parameter.value.index()));
    writer.PutText(ValueBytes(parameter.value));
  }
}

absl::Status UnpackResponse(absl::string_view bytes, InferResponse* response) {
  Reader reader(bytes);
  uint32_t count;
  // InferResponse has room for as many outputs as the model has.
  if (!reader.Get(&count) || count > response->model()->config().outputs.size()) return Damaged();
  for (; count > 0; --count) {
    absl::string_view output;
    if (!reader.GetRun<uint64_t>(&output)) return Damaged();
    RETURN_IF_ERROR(UnpackOutput(output, response));
  }
  if (!reader.Get(&count)) return Damaged();
  for (; count > 0; --count) {
    absl::string_view name, value_bytes;
    uint8_t kind;
    Parameter parameter;
    if (!reader.GetRun<uint32_t>(&name) || !reader.Get(&kind) ||
        !reader.GetRun<uint32_t>(&value_bytes) || !ToValue(kind, value_bytes, &parameter.value)) {
      return Damaged();
    }
    parameter.name = std::string(name);
    response->AddParameter(std::move(parameter));
  }
  return reader.empty() ? absl::OkStatus() : Damaged();
}

}  // namespace nereid
