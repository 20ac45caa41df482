// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/declared_signature.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

namespace nereid_backend {
namespace {

constexpr uint64_t kMostText = 64 << 10;   // bytes of a name
constexpr size_t kMostTensors = 64 << 10;  // inputs, and outputs

// Field numbers of onnx.proto.
enum : uint64_t {
  kModelGraph = 7,
  kGraphInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12,
  kGraphSparseInitializer = 15,
  kSparseValues = 1,
  kTensorName = 8,
  kValueName = 1,
  kValueType = 2,
  kTypeTensor = 1,
  kTensorTypeShape = 2,
  kShapeDim = 1,
  kDimValue = 1,
  kDimName = 2,
};

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    const off_t end = fd_ < 0 ? 0 : lseek(fd_, 0, SEEK_END);
    if (end > 0) size_ = static_cast<uint64_t>(end);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }

  uint64_t size() const { return size_; }
  // The byte at `at`; -1 if there is none.
  int ByteAt(uint64_t at) {
    if (at < begin_ || at >= begin_ + filled_) {
      const ssize_t got = pread(fd_, window_.data(), window_.size(), static_cast<off_t>(at));
      begin_ = at;
      filled_ = got > 0 ? static_cast<uint64_t>(got) : 0;
    }
    if (at - begin_ >= filled_) return -1;
    return static_cast<unsigned char>(window_[at - begin_]);
  }

 private:
  const int fd_;
  uint64_t size_ = 0;
  uint64_t begin_ = 0;   // of the window
  uint64_t filled_ = 0;  // bytes in the window
  std::array<char, 4096> window_;
};

struct Field {
  uint64_t number = 0;
  enum class Kind { kVarint, kFixed, kBytes } kind = Kind::kFixed;
  uint64_t value = 0;  // of a varint
  uint64_t begin = 0;  // of the bytes in the file: a message, a text, or packed numbers
  uint64_t end = 0;
};

// Reads one message of protobuf, field by field.
class Message {
 public:
  Message(File* file, uint64_t begin, uint64_t end) : file_(file), at_(begin), end_(end) {}
  Message(File* file, const Field& field) : Message(file, field.begin, field.end) {}

  // False at the end of the message, and if it is damaged.
  bool Next(Field* field) {
    if (damaged_ || at_ == end_) return false;
    uint64_t key = 0;
    if (!ReadVarint(&key)) return false;
    *field = Field();
    field->number = key >> 3;
    switch (key & 7) {
      case 0:
        field->kind = Field::Kind::kVarint;
        return ReadVarint(&field->value);
      case 1:
        return Skip(8);
      case 2:
        return ReadVarint(&field->value) && TakeBytes(field);
      case 5:
        return Skip(4);
      default:
        damaged_ = true;
        return false;
    }
  }
  bool damaged() const { return damaged_; }

 private:
  bool ReadVarint(uint64_t* value) {
    for (int shift = 0; shift < 64; shift += 7) {
      const int byte = at_ < end_ ? file_->ByteAt(at_) : -1;
      if (byte < 0) break;
      ++at_;
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    damaged_ = true;
    return false;
  }
  bool Skip(uint64_t size) {
    damaged_ = size > end_ - at_;
    if (!damaged_) at_ += size;
    return !damaged_;
  }
  bool TakeBytes(Field* field) {
    field->kind = Field::Kind::kBytes;
    field->begin = at_;
    if (!Skip(std::exchange(field->value, 0))) return false;
    field->end = at_;
    return true;
  }

  File* const file_;
  uint64_t at_;
  const uint64_t end_;
  bool damaged_ = false;
};

// Calls `take` for each field of the message in `bytes` that has bytes. As readers of protobuf do,
// it skips fields of another kind than the schema's, so that `take` need not look. False if the
// message is damaged or `take` returns false.
template <typename Take>
bool ForEachField(File* file, const Field& bytes, const Take& take) {
  Message message(file, bytes);
  Field field;
  while (message.Next(&field)) {
    if (field.kind == Field::Kind::kBytes && !take(field)) return false;
  }
  return !message.damaged();
}

bool ReadText(File* file, const Field& bytes, std::string* text) {
  if (bytes.end - bytes.begin > kMostText) return false;
  text->clear();
  for (uint64_t at = bytes.begin; at < bytes.end; ++at) {
    const int byte = file->ByteAt(at);
    if (byte < 0) return false;
    text->push_back(static_cast<char>(byte));
  }
  return true;
}

bool ReadDim(File* file, const Field& bytes, ModelTensor* tensor) {
  int64_t value = -1;
  std::string name;
  Message message(file, bytes);
  Field field;
  bool read = true;
  while (read && message.Next(&field)) {
    if (field.number == kDimValue && field.kind == Field::Kind::kVarint) {
      value = static_cast<int64_t>(field.value);
    } else if (field.number == kDimName && field.kind == Field::Kind::kBytes) {
      read = ReadText(file, field, &name);
    }
  }
  const bool first = tensor->dims.empty();
  tensor->dims.push_back(std::max<int64_t>(value, -1));
  if (first && value < 0) tensor->first_name = MeaningfulName(name);
  return read && !message.damaged();
}

bool ReadTensorType(File* file, const Field& bytes, ModelTensor* tensor) {
  return ForEachField(file, bytes, [&](const Field& field) {
    if (field.number != kTensorTypeShape) return true;
    return ForEachField(file, field, [&](const Field& dim) {
      return dim.number != kShapeDim || ReadDim(file, dim, tensor);
    });
  });
}

bool ReadValue(File* file, const Field& bytes, ModelTensor* tensor) {
  tensor->is_tensor = false;
  return ForEachField(file, bytes, [&](const Field& field) {
    if (field.number == kValueName) return ReadText(file, field, &tensor->name);
    if (field.number != kValueType) return true;
    return ForEachField(file, field, [&](const Field& type) {
      if (type.number != kTypeTensor) return true;
      tensor->is_tensor = true;
      return ReadTensorType(file, type, tensor);
    });
  });
}

bool ReadTensorName(File* file, const Field& bytes, std::set<std::string>* names) {
  return ForEachField(file, bytes, [&](const Field& field) {
    if (field.number != kTensorName) return true;
    std::string name;
    const bool read = ReadText(file, field, &name);
    names->insert(std::move(name));
    return read;
  });
}

bool ReadGraph(File* file, const Field& bytes, Signature* signature) {
  std::vector<ModelTensor> inputs;
  std::set<std::string> initialized;
  const bool read = ForEachField(file, bytes, [&](const Field& field) {
    switch (field.number) {
      case kGraphInput:
        return inputs.size() < kMostTensors && ReadValue(file, field, &inputs.emplace_back());
      case kGraphOutput:
        return signature->outputs.size() < kMostTensors &&
               ReadValue(file, field, &signature->outputs.emplace_back());
      case kGraphInitializer:
        return ReadTensorName(file, field, &initialized);
      case kGraphSparseInitializer:
        return ForEachField(file, field, [&](const Field& part) {
          return part.number != kSparseValues || ReadTensorName(file, part, &initialized);
        });
      default:
        return true;
    }
  });
  for (ModelTensor& input : inputs) {
    const bool defaulted = initialized.count(input.name) > 0;
    (defaulted ? signature->defaulted : signature->inputs).push_back(std::move(input));
  }
  return read;
}

}  // namespace

std::string MeaningfulName(const std::string& name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view stem = std::string_view(name).substr(0, digits);
  constexpr std::string_view kAxes = "_dynamic_axes_";
  const bool generated =
      stem == "unk__" || stem == "DynamicDimension." ||
      (stem.size() > kAxes.size() && stem.substr(stem.size() - kAxes.size()) == kAxes);
  return generated && digits < name.size() ? "" : name;
}

std::optional<Signature> ReadDeclaredSignature(const std::string& path) {
  File file(path);
  Field model;
  model.end = file.size();
  Signature signature;
  bool has_graph = false;
  const bool read = ForEachField(&file, model, [&](const Field& field) {
    if (field.number != kModelGraph) return true;
    has_graph = true;
    return ReadGraph(&file, field, &signature);
  });
  if (!read || !has_graph) return std::nullopt;
  return signature;
}

}  // namespace nereid_backend
