// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/plain_request.h"

#include <algorithm>

namespace nereid {
namespace {

// Tags of the fields that a plain message has: number and wire type.
constexpr uint8_t BytesTag(int field) { return static_cast<uint8_t>(field << 3 | 2); }
constexpr uint8_t kName = BytesTag(1);  // of an input and of an output
// InferInputTensor
constexpr uint8_t kDataType = BytesTag(2);
constexpr uint8_t kPackedShape = BytesTag(3);
constexpr uint8_t kDimension = 3 << 3;  // of a shape that is not packed
// ModelInferRequest
constexpr uint8_t kModelName = BytesTag(1);
constexpr uint8_t kModelVersion = BytesTag(2);
constexpr uint8_t kId = BytesTag(3);
constexpr uint8_t kInput = BytesTag(5);
constexpr uint8_t kOutput = BytesTag(6);

// A message's bytes; every read fails at their end.
class Bytes {
 public:
  explicit Bytes(absl::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  // Tags of more than one byte are of no field that is read here.
  bool ReadTag(uint8_t* tag) {
    if (rest_.empty()) return false;
    *tag = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return *tag < 0x80;
  }
  bool ReadVarint(uint64_t* value, int most_bytes = 10) {
    *value = 0;
    for (int shift = 0; shift < 7 * most_bytes && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool ReadBytes(absl::string_view* bytes) {
    // Protobuf refuses lengths of more than five bytes, and some of five.
    uint64_t size;
    if (!ReadVarint(&size, /*most_bytes=*/4) || size > rest_.size()) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  // Protobuf checks that text is UTF-8; ASCII is. `*text` must be empty: what a
  // field that is there twice means is left to protobuf.
  bool ReadText(absl::string_view* text) {
    if (!text->empty() || !ReadBytes(text)) return false;
    return std::all_of(text->begin(), text->end(),
                       [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  }

 private:
  absl::string_view rest_;
};

bool AddDimension(Bytes* bytes, PlainInput* input) {
  uint64_t dim;
  if (input->shape.size() == PlainRequest::kMostDimensions || !bytes->ReadVarint(&dim)) {
    return false;
  }
  input->shape.push_back(static_cast<int64_t>(dim));
  return true;
}

bool ReadPackedShape(Bytes* bytes, PlainInput* input) {
  absl::string_view packed;
  if (!bytes->ReadBytes(&packed)) return false;
  for (Bytes dims(packed); !dims.empty();) {
    if (!AddDimension(&dims, input)) return false;
  }
  return true;
}

bool ReadInput(absl::string_view message, PlainInput* input) {
  for (Bytes bytes(message); !bytes.empty();) {
    uint8_t tag;
    if (!bytes.ReadTag(&tag)) return false;
    bool ok = false;
    switch (tag) {
      case kName:
        ok = bytes.ReadText(&input->name);
        break;
      case kDataType:
        ok = bytes.ReadText(&input->data_type);
        break;
      case kPackedShape:
        ok = ReadPackedShape(&bytes, input);
        break;
      case kDimension:
        ok = AddDimension(&bytes, input);
        break;
    }
    if (!ok) return false;
  }
  return true;
}

bool ReadOutput(absl::string_view message, absl::string_view* name) {
  for (Bytes bytes(message); !bytes.empty();) {
    uint8_t tag;
    if (!bytes.ReadTag(&tag) || tag != kName || !bytes.ReadText(name)) return false;
  }
  return true;
}

bool AddInput(Bytes* bytes, PlainRequest* request) {
  absl::string_view input;
  if (request->inputs.size() == PlainRequest::kMostTensors || !bytes->ReadBytes(&input)) {
    return false;
  }
  return ReadInput(input, &request->inputs.emplace_back());
}

bool AddOutput(Bytes* bytes, PlainRequest* request) {
  absl::string_view output;
  if (request->outputs.size() == PlainRequest::kMostTensors || !bytes->ReadBytes(&output)) {
    return false;
  }
  return ReadOutput(output, &request->outputs.emplace_back());
}

}  // namespace

bool ReadPlainRequest(absl::string_view message, PlainRequest* request) {
  for (Bytes bytes(message); !bytes.empty();) {
    uint8_t tag;
    if (!bytes.ReadTag(&tag)) return false;
    bool ok = false;
    switch (tag) {
      case kModelName:
        ok = bytes.ReadText(&request->model_name);
        break;
      case kModelVersion:
        ok = bytes.ReadText(&request->model_version);
        break;
      case kId:
        ok = bytes.ReadText(&request->id);
        break;
      case kInput:
        ok = AddInput(&bytes, request);
        break;
      case kOutput:
        ok = AddOutput(&bytes, request);
        break;
    }
    if (!ok) return false;
  }
  return true;
}

}  // namespace nereid
