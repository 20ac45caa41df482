// SPDX-License-Identifier: Apache-2.0
// A file in protobuf, read field by field through a small window: what is not asked for, such as
// weights, is skipped and not read. The field numbers of onnx.proto. Thread-compatible.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_WIRE_FILE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_WIRE_FILE_H_

#include <array>
#include <cstdint>
#include <string>

namespace nereid_backend {

// Field numbers of onnx.proto.
enum : uint64_t {
  kModelGraph = 7,
  kGraphNode = 1,
  kGraphInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12,
  kGraphSparseInitializer = 15,
  kNodeInput = 1,
  kNodeOutput = 2,
  kNodeAttribute = 5,
  kAttributeTensor = 5,
  kAttributeGraph = 6,
  kAttributeTensors = 10,
  kAttributeGraphs = 11,
  kAttributeSparse = 22,
  kAttributeSparses = 23,
  kSparseValues = 1,
  kSparseIndices = 2,
  kTensorName = 8,
  kTensorLocation = 14,  // 1: in another file
  kValueName = 1,
  kValueType = 2,
  kTypeTensor = 1,
  kTensorTypeShape = 2,
  kShapeDim = 1,
  kDimValue = 1,
  kDimName = 2,
};

class WireFile {
 public:
  explicit WireFile(const std::string& path);
  WireFile(const WireFile&) = delete;
  WireFile& operator=(const WireFile&) = delete;
  ~WireFile();

  // 0 if the file cannot be read.
  uint64_t size() const { return size_; }
  // The byte at `at`; -1 if there is none.
  int ByteAt(uint64_t at);
  // Appends the bytes from `begin` to `end`. False if they are not there.
  bool Append(uint64_t begin, uint64_t end, std::string* bytes) const;

 private:
  const int fd_;
  uint64_t size_ = 0;
  uint64_t begin_ = 0;   // of the window
  uint64_t filled_ = 0;  // bytes in the window
  std::array<char, 4096> window_;
};

struct WireField {
  uint64_t number = 0;
  enum class Kind { kVarint, kFixed, kBytes } kind = Kind::kFixed;
  uint64_t value = 0;  // of a varint
  uint64_t start = 0;  // of the field in the file
  uint64_t begin = 0;  // of the bytes in the file: a message, a text, or packed numbers
  uint64_t end = 0;
};

// Reads one message, field by field.
class WireMessage {
 public:
  WireMessage(WireFile* file, uint64_t begin, uint64_t end) : file_(file), at_(begin), end_(end) {}
  WireMessage(WireFile* file, const WireField& field) : WireMessage(file, field.begin, field.end) {}

  // False at the end of the message, and if it is damaged.
  bool Next(WireField* field);
  bool damaged() const { return damaged_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool Skip(uint64_t size);
  bool TakeBytes(WireField* field);

  WireFile* const file_;
  uint64_t at_;
  const uint64_t end_;
  bool damaged_ = false;
};

// Calls `take` for each field of the message in `bytes` that has bytes. As readers of protobuf do,
// it skips fields of another kind than the schema's, so that `take` need not look. False if the
// message is damaged or `take` returns false.
template <typename Take>
bool ForEachField(WireFile* file, const WireField& bytes, const Take& take) {
  WireMessage message(file, bytes);
  WireField field;
  while (message.Next(&field)) {
    if (field.kind == WireField::Kind::kBytes && !take(field)) return false;
  }
  return !message.damaged();
}

// Reads a name. False if the text is longer than any name.
bool ReadText(WireFile* file, const WireField& bytes, std::string* text);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_WIRE_FILE_H_
