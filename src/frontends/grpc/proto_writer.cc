// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/proto_writer.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "base/outside_text.h"
#include "base/status_macros.h"
#include "frontends/grpc/wire/proto_bytes.h"

namespace nereid {
namespace {

using proto_bytes::AppendBytes;
using proto_bytes::AppendTag;
using proto_bytes::AppendText;
using proto_bytes::AppendVarint;
using proto_bytes::BytesSize;
using proto_bytes::kBytes;
using proto_bytes::kFixed64;
using proto_bytes::kMaxMessageBytes;
using proto_bytes::kMaxTagBytes;
using proto_bytes::kVarint;
using proto_bytes::Tag;
using proto_bytes::TagSize;
using proto_bytes::TextSize;
using proto_bytes::VarintSize;

// Tags of the fields, of all messages of the protocol that are written here.
// ModelInferResponse
constexpr char kModelName = Tag(1, kBytes);
constexpr char kModelVersion = Tag(2, kBytes);
constexpr char kId = Tag(3, kBytes);
constexpr char kParameter = Tag(4, kBytes);
constexpr char kOutput = Tag(5, kBytes);
constexpr char kRaw = Tag(6, kBytes);
// InferOutputTensor
constexpr char kName = Tag(1, kBytes);
constexpr char kDataType = Tag(2, kBytes);
constexpr char kShape = Tag(3, kBytes);
// An entry of a map
constexpr char kKey = Tag(1, kBytes);
constexpr char kValue = Tag(2, kBytes);
// InferParameter
constexpr char kBool = Tag(1, kVarint);
constexpr char kInt64 = Tag(2, kVarint);
constexpr char kString = Tag(3, kBytes);
constexpr char kDouble = Tag(4, kFixed64);
// ModelStreamInferResponse
constexpr char kInferResponse = Tag(2, kBytes);

constexpr char kFinalResponse[] = "triton_final_response";
constexpr size_t kKeptBytes = 65536;

// A field that is left out when it is empty, of text that models and backends make: clients refuse
// an answer if it is not UTF-8.
void AppendAsUtf8(char tag, absl::string_view text, std::string* out) {
  std::string utf8;
  AppendText(tag, ToUtf8(text, &utf8), out);
}

void AppendOutput(absl::string_view name, DataType type, absl::Span<const int64_t> shape,
                  std::string* out) {
  std::string utf8;
  name = ToUtf8(name, &utf8);
  const absl::string_view type_name = DataTypeName(type);
  uint64_t dims = 0;
  for (const int64_t dim : shape) dims += VarintSize(static_cast<uint64_t>(dim));
  AppendTag(kOutput,
            TextSize(name) + TextSize(type_name) + (shape.empty() ? 0 : TagSize(dims) + dims), out);
  AppendText(kName, name, out);
  AppendText(kDataType, type_name, out);
  if (shape.empty()) return;
  AppendTag(kShape, dims, out);
  for (const int64_t dim : shape) AppendVarint(static_cast<uint64_t>(dim), out);
}

// An InferParameter's only field.
void AppendValue(const ParameterValue& value, std::string* out) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::string utf8;
    AppendBytes(kString, ToUtf8(*text, &utf8), out);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    AppendTag(kInt64, static_cast<uint64_t>(*number), out);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    AppendTag(kBool, *flag ? 1 : 0, out);
  } else {
    const double real = std::get<double>(value);
    char bytes[sizeof(real)];  // in the byte order of the protocol, which is this machine's
    std::memcpy(bytes, &real, sizeof(real));
    out->push_back(kDouble);
    out->append(bytes, sizeof(bytes));
  }
}

void AppendParameter(absl::string_view name, const ParameterValue& value, std::string* out) {
  std::string utf8, field;
  name = ToUtf8(name, &utf8);
  AppendValue(value, &field);
  AppendTag(kParameter, BytesSize(name) + BytesSize(field), out);
  AppendBytes(kKey, name, out);
  AppendBytes(kValue, field, out);
}

}  // namespace

absl::StatusOr<absl::Span<const WirePiece>> ProtoWriter::Write(const InferResponse& response,
                                                               const OutputFormats& formats) {
  RETURN_IF_ERROR(Fill(response, formats));
  return MakePieces(/*streamed=*/false);
}

absl::StatusOr<absl::Span<const WirePiece>> ProtoWriter::WriteStreamed(
    const InferResponse& response, const OutputFormats& formats, bool is_final) {
  RETURN_IF_ERROR(Fill(response, formats));
  AppendParameter(kFinalResponse, is_final, &message_);
  return MakePieces(/*streamed=*/true);
}

absl::Status ProtoWriter::Fill(const InferResponse& response, const OutputFormats& formats) {
  Clear();
  // Views into it must stay valid while it grows.
  classified_.reserve(response.outputs().size());
  model_ = &response.model_name();
  AppendAsUtf8(kModelName, response.model_name(), &message_);
  AppendText(kModelVersion, absl::AlphaNum(response.model_version()).Piece(), &message_);
  AppendAsUtf8(kId, response.id(), &message_);
  for (const Parameter& parameter : response.parameters()) {
    AppendParameter(parameter.name, parameter.value, &message_);
  }
  for (const ResponseOutput& output : response.outputs()) {
    if (formats.PlaceOf(output.name()) != nullptr) {
      // The tensor is there. Its entry of the raw contents is empty.
      AppendOutput(output.name(), output.data_type(), output.shape(), &message_);
      raw_.push_back({});
    } else {
      RETURN_IF_ERROR(AddOutput(response, output, formats.For(output.name()).classification));
    }
  }
  return absl::OkStatus();
}

void ProtoWriter::Clear() {
  message_.clear();
  if (message_.capacity() > kKeptBytes) std::string().swap(message_);
  classified_.clear();
  raw_.clear();
  pieces_.clear();
  own_bytes_.clear();
  if (own_bytes_.capacity() > kKeptBytes) std::string().swap(own_bytes_);
}

absl::Status ProtoWriter::AddOutput(const InferResponse& response, const ResponseOutput& output,
                                    uint64_t classification) {
  if (classification > 0) {
    ASSIGN_OR_RETURN(Classification classes, ClassifyOutput(response, output, classification));
    AppendOutput(output.name(), DataType::kBytes, classes.shape, &message_);
    classified_.push_back(std::move(classes));
    raw_.push_back({classified_.back().tensor, /*of_response=*/false});
    return absl::OkStatus();
  }
  AppendOutput(output.name(), output.data_type(), output.shape(), &message_);
  const OutputBuffer& buffer = output.buffer();
  raw_.push_back({absl::string_view(static_cast<const char*>(buffer.base), buffer.byte_size),
                  /*of_response=*/buffer.byte_size > kCopiedBytes});
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const WirePiece>> ProtoWriter::MakePieces(bool streamed) {
  uint64_t size = message_.size();  // of the ModelInferResponse
  uint64_t of_response = 0;
  for (const RawOutput& raw : raw_) {
    size += TagSize(raw.bytes.size()) + raw.bytes.size();
    if (raw.of_response) of_response += raw.bytes.size();
  }
  if (size > kMaxMessageBytes - kMaxTagBytes) {
    return absl::InternalError(absl::StrCat("the response of model '", *model_, "' has ", size,
                                            " bytes, but gRPC carries at most ",
                                            kMaxMessageBytes - kMaxTagBytes));
  }
  // Reserved, so that pieces may view it while it grows.
  own_bytes_.reserve(static_cast<size_t>(size - of_response) + kMaxTagBytes);
  if (streamed) AppendTag(kInferResponse, size, &own_bytes_);
  own_bytes_.append(message_);
  size_t piece_start = 0;
  const auto cut = [&] {
    pieces_.push_back({absl::string_view(own_bytes_).substr(piece_start), /*of_response=*/false});
    piece_start = own_bytes_.size();
  };
  for (const RawOutput& raw : raw_) {
    AppendTag(kRaw, raw.bytes.size(), &own_bytes_);
    if (raw.of_response) {
      cut();
      pieces_.push_back({raw.bytes, /*of_response=*/true});
    } else {
      own_bytes_.append(raw.bytes.data(), raw.bytes.size());
    }
  }
  if (piece_start < own_bytes_.size() || pieces_.empty()) cut();
  return absl::MakeConstSpan(pieces_);
}

}  // namespace nereid
