// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tfs_writer.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "base/outside_text.h"
#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/grpc/tfs/tensor_proto.h"
#include "frontends/grpc/wire/proto_bytes.h"

namespace nereid {
namespace {

using proto_bytes::AppendBytes;
using proto_bytes::AppendTag;
using proto_bytes::AppendText;
using proto_bytes::AppendVarint;
using proto_bytes::BytesSize;
using proto_bytes::kBytes;
using proto_bytes::kFixed32;
using proto_bytes::kMaxMessageBytes;
using proto_bytes::kMaxTagBytes;
using proto_bytes::kVarint;
using proto_bytes::Tag;
using proto_bytes::TagSize;
using proto_bytes::TextSize;
using proto_bytes::VarintSize;

// The first field of a message that has a length, and so on.
constexpr char kFirst = Tag(1, kBytes);
constexpr char kSecond = Tag(2, kBytes);
constexpr char kFirstNumber = Tag(1, kVarint);
// Of TensorProto.
constexpr char kStringValue = Tag(8, kBytes);
// Of ModelSpec.
constexpr char kSignatureName = Tag(3, kBytes);
// Numbers that clients read as floats.
constexpr char kFirstFloat = Tag(1, kFixed32);
constexpr char kSecondFloat = Tag(2, kFixed32);
constexpr uint64_t kFloatField = 1 + sizeof(float);

// The field of TensorProto for numbers of a type.
int FieldOf(DataType type) {
  switch (type) {
    case DataType::kFp32:
      return 5;
    case DataType::kFp64:
      return 6;
    case DataType::kInt64:
      return 10;
    case DataType::kBool:
      return 11;
    case DataType::kFp16:
    case DataType::kBf16:
      return 13;
    case DataType::kUint32:
      return 16;
    case DataType::kUint64:
      return 17;
    default:
      return 7;
  }
}

uint64_t TagOfNumbers(DataType type) { return static_cast<uint64_t>(FieldOf(type)) << 3 | 2; }

// Whether elements lie in the message as in the tensor.
bool IsPlain(DataType type) { return type == DataType::kFp32 || type == DataType::kFp64; }

// Calls `use` with each element as the number that is written.
template <typename Element, typename Use>
void ForEachOf(absl::string_view bytes, const Use& use) {
  for (size_t at = 0; at + sizeof(Element) <= bytes.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, bytes.data() + at, sizeof(element));
    // Negative numbers as those of 64 bits.
    use(static_cast<uint64_t>(static_cast<int64_t>(element)));
  }
}

template <typename Use>
void ForEachNumber(const TfsOutput& output, const Use& use) {
  switch (output.type) {
    case DataType::kBool:
      return ForEachOf<uint8_t>(output.bytes, [&use](uint64_t value) { use(value == 0 ? 0 : 1); });
    case DataType::kUint8:
      return ForEachOf<uint8_t>(output.bytes, use);
    case DataType::kInt8:
      return ForEachOf<int8_t>(output.bytes, use);
    case DataType::kUint16:
    case DataType::kFp16:
    case DataType::kBf16:
      return ForEachOf<uint16_t>(output.bytes, use);
    case DataType::kInt16:
      return ForEachOf<int16_t>(output.bytes, use);
    case DataType::kUint32:
      return ForEachOf<uint32_t>(output.bytes, use);
    case DataType::kInt32:
      return ForEachOf<int32_t>(output.bytes, use);
    default:
      return ForEachOf<int64_t>(output.bytes, use);
  }
}

template <typename Use>
void ForEachString(const TfsOutput& output, const Use& use) {
  BytesElements elements(output.bytes);
  absl::string_view element;
  while (elements.Next(&element)) use(element);
}

uint64_t SizeOfDim(int64_t dim) { return 1 + VarintSize(static_cast<uint64_t>(dim)); }

void AppendFloat(char tag, float value, std::string* out) {
  char bytes[sizeof(value)];  // in the byte order of the protocol, which is this machine's
  std::memcpy(bytes, &value, sizeof(value));
  out->push_back(tag);
  out->append(bytes, sizeof(bytes));
}

// The element `index` of an output of FP32 or FP64.
float FloatAt(const TfsOutput& output, int64_t index) {
  const auto at = static_cast<size_t>(index);
  if (output.type == DataType::kFp64) {
    double value;
    std::memcpy(&value, output.bytes.data() + at * sizeof(value), sizeof(value));
    return static_cast<float>(value);
  }
  float value;
  std::memcpy(&value, output.bytes.data() + at * sizeof(value), sizeof(value));
  return value;
}

// Walks the classes of all rows.
class ClassCursor {
 public:
  ClassCursor(const InferResponse& response, const TfsClasses& classes)
      : response_(response),
        classes_(classes),
        names_(classes.classes == nullptr ? absl::string_view() : classes.classes->bytes) {}

  struct Class {
    absl::string_view label;  // valid until the next call
    float score;

    uint64_t size() const { return TextSize(label) + kFloatField; }
  };
  Class Next() {
    const int64_t at = next_++;
    absl::string_view label;
    if (classes_.classes != nullptr) {
      names_.Next(&label);
    } else if (const char* const text = response_.model()->Label(
                   *classes_.labelled, static_cast<size_t>(at % classes_.per_row))) {
      label = text;
    }
    return {ToUtf8(label, &memory_),
            classes_.scores == nullptr ? 0 : FloatAt(*classes_.scores, at)};
  }
  // The bytes of the classes of the next row.
  uint64_t SizeOfRow() {
    uint64_t size = 0;
    for (int64_t i = 0; i < classes_.per_row; ++i) {
      const uint64_t one = Next().size();
      size += TagSize(one) + one;
    }
    return size;
  }

 private:
  const InferResponse& response_;
  const TfsClasses& classes_;
  BytesElements names_;
  int64_t next_ = 0;
  std::string memory_;
};

// A ModelSpec.
std::string ModelSpecOf(const InferResponse& response, const std::string& signature) {
  std::string memory, spec;
  AppendText(kFirst, ToUtf8(response.model_name(), &memory), &spec);
  const auto version = static_cast<uint64_t>(response.model_version());
  AppendTag(kSecond, 1 + VarintSize(version), &spec);
  AppendTag(kFirstNumber, version, &spec);
  AppendText(kSignatureName, ToUtf8(signature, &memory), &spec);
  return spec;
}

}  // namespace

absl::StatusOr<uint64_t> TfsWriter::Measure() {
  ASSIGN_OR_RETURN(outputs_, FindTfsOutputs(response_, answer_.outputs));
  model_spec_ = ModelSpecOf(response_, answer_.signature_name);
  uint64_t size = BytesSize(model_spec_);
  if (answer_.call.method == TfsMethod::kPredict) {
    size += MeasureOutputs();
  } else {
    ASSIGN_OR_RETURN(result_size_, MeasureResult());
    size += TagSize(result_size_) + result_size_;
  }
  if (size > kMaxMessageBytes - kMaxTagBytes) {
    return absl::InternalError(absl::StrCat("the response of model '", response_.model_name(),
                                            "' has ", size, " bytes, but gRPC carries at most ",
                                            kMaxMessageBytes - kMaxTagBytes));
  }
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i].of_response) size -= outputs_[i].bytes.size();
  }
  return size;
}

TfsWriter::Sizes TfsWriter::SizesOf(const TfsOutput& output) {
  Sizes sizes;
  if (output.type == DataType::kBytes) {
    ForEachString(output, [&](absl::string_view text) { sizes.values += BytesSize(text); });
  } else {
    if (IsPlain(output.type)) {
      sizes.packed = output.bytes.size();
      sizes.of_response = sizes.packed > ProtoWriter::kCopiedBytes;
    } else {
      ForEachNumber(output, [&](uint64_t value) { sizes.packed += VarintSize(value); });
    }
    if (sizes.packed > 0) {
      sizes.values =
          VarintSize(TagOfNumbers(output.type)) + VarintSize(sizes.packed) + sizes.packed;
    }
  }
  for (const int64_t dim : output.shape) sizes.shape += TagSize(SizeOfDim(dim)) + SizeOfDim(dim);
  sizes.tensor = TagSize(static_cast<uint64_t>(ToTensorFlow(output.type))) + TagSize(sizes.shape) +
                 sizes.shape + sizes.values;
  return sizes;
}

uint64_t TfsWriter::MeasureOutputs() {
  uint64_t size = 0;
  for (const TfsOutput& output : outputs_) {
    sizes_.push_back(SizesOf(output));
    const uint64_t tensor = sizes_.back().tensor;
    const uint64_t entry = BytesSize(output.key()) + TagSize(tensor) + tensor;
    size += TagSize(entry) + entry;
  }
  return size;
}

absl::StatusOr<uint64_t> TfsWriter::MeasureResult() {
  if (answer_.call.method == TfsMethod::kRegress) {
    RETURN_IF_ERROR(CheckTfsRegression(outputs_.front()));
    return static_cast<uint64_t>(outputs_.front().shape.front()) *
           (TagSize(kFloatField) + kFloatField);
  }
  ASSIGN_OR_RETURN(classes_, FindTfsClasses(response_, outputs_));
  ClassCursor cursor(response_, classes_);
  uint64_t size = 0;
  for (int64_t row = 0; row < classes_.rows; ++row) {
    const uint64_t of_row = cursor.SizeOfRow();
    size += TagSize(of_row) + of_row;
  }
  return size;
}

absl::Span<const WirePiece> TfsWriter::Write() {
  uint64_t own = kMaxTagBytes + BytesSize(model_spec_) + result_size_;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    own += BytesSize(outputs_[i].key()) + 2 * kMaxTagBytes + sizes_[i].tensor -
           (sizes_[i].of_response ? sizes_[i].packed : 0);
  }
  own_.reserve(static_cast<size_t>(own));
  switch (answer_.call.method) {
    case TfsMethod::kPredict:
      for (size_t i = 0; i < outputs_.size(); ++i) WriteOutput(outputs_[i], sizes_[i]);
      break;
    case TfsMethod::kClassify:
      WriteClassifications();
      break;
    case TfsMethod::kRegress:
      WriteRegressions();
      break;
  }
  AppendBytes(kSecond, model_spec_, &own_);
  Cut();
  return absl::MakeConstSpan(pieces_);
}

// An entry of the map of outputs.
void TfsWriter::WriteOutput(const TfsOutput& output, const Sizes& sizes) {
  AppendTag(kFirst, BytesSize(output.key()) + TagSize(sizes.tensor) + sizes.tensor, &own_);
  AppendBytes(kFirst, output.key(), &own_);
  AppendTag(kSecond, sizes.tensor, &own_);
  AppendTag(kFirstNumber, static_cast<uint64_t>(ToTensorFlow(output.type)), &own_);
  AppendTag(kSecond, sizes.shape, &own_);
  for (const int64_t dim : output.shape) {
    AppendTag(kSecond, SizeOfDim(dim), &own_);
    AppendTag(kFirstNumber, static_cast<uint64_t>(dim), &own_);
  }
  if (output.type == DataType::kBytes) {
    return ForEachString(
        output, [this](absl::string_view text) { AppendBytes(kStringValue, text, &own_); });
  }
  if (sizes.packed == 0) return;
  AppendVarint(TagOfNumbers(output.type), &own_);
  AppendVarint(sizes.packed, &own_);
  if (sizes.of_response) {
    Cut();
    pieces_.push_back({output.bytes, /*of_response=*/true});
  } else if (IsPlain(output.type)) {
    own_.append(output.bytes.data(), output.bytes.size());
  } else {
    ForEachNumber(output, [this](uint64_t value) { AppendVarint(value, &own_); });
  }
}

void TfsWriter::WriteClassifications() {
  AppendTag(kFirst, result_size_, &own_);
  ClassCursor sizes(response_, classes_);
  ClassCursor cursor(response_, classes_);
  for (int64_t row = 0; row < classes_.rows; ++row) {
    AppendTag(kFirst, sizes.SizeOfRow(), &own_);
    for (int64_t i = 0; i < classes_.per_row; ++i) {
      const ClassCursor::Class one = cursor.Next();
      AppendTag(kFirst, one.size(), &own_);
      AppendText(kFirst, one.label, &own_);
      AppendFloat(kSecondFloat, one.score, &own_);
    }
  }
}

void TfsWriter::WriteRegressions() {
  AppendTag(kFirst, result_size_, &own_);
  const TfsOutput& output = outputs_.front();
  for (int64_t row = 0; row < output.shape.front(); ++row) {
    AppendTag(kFirst, kFloatField, &own_);
    AppendFloat(kFirstFloat, FloatAt(output, row), &own_);
  }
}

void TfsWriter::Cut() {
  if (piece_start_ == own_.size()) return;
  pieces_.push_back({absl::string_view(own_).substr(piece_start_), /*of_response=*/false});
  piece_start_ = own_.size();
}

}  // namespace nereid
