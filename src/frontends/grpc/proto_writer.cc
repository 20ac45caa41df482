#include "frontends/grpc/proto_writer.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr char kRawTag = 6 << 3 | 2;     // raw_output_contents of a ModelInferResponse
constexpr char kStreamTag = 2 << 3 | 2;  // infer_response of a ModelStreamInferResponse
constexpr char kFinalResponse[] = "triton_final_response";
constexpr size_t kMaxTagBytes = 11;  // tag and length
constexpr size_t kKeptBytes = 65536;
constexpr uint64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();

void AppendTag(char tag, uint64_t length, std::string* out) {
  out->push_back(tag);
  while (length >= 0x80) {
    out->push_back(static_cast<char>(length | 0x80));
    length >>= 7;
  }
  out->push_back(static_cast<char>(length));
}

// Bytes that AppendTag appends.
size_t TagSize(uint64_t length) {
  size_t size = 2;
  for (; length >= 0x80; length >>= 7) ++size;
  return size;
}

void FillParameter(const ParameterValue& value, inference::InferParameter* parameter) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    parameter->set_string_param(*text);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    parameter->set_int64_param(*number);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    parameter->set_bool_param(*flag);
  } else {
    parameter->set_double_param(std::get<double>(value));
  }
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
  (*message_.mutable_parameters())[kFinalResponse].set_bool_param(is_final);
  return MakePieces(/*streamed=*/true);
}

absl::Status ProtoWriter::Fill(const InferResponse& response, const OutputFormats& formats) {
  Clear();
  // Views into it must stay valid while it grows.
  classified_.reserve(response.outputs().size());
  message_.set_model_name(response.model_name());
  message_.set_model_version(absl::StrCat(response.model_version()));
  message_.set_id(response.id());
  for (const Parameter& parameter : response.parameters()) {
    FillParameter(parameter.value, &(*message_.mutable_parameters())[parameter.name]);
  }
  for (const ResponseOutput& output : response.outputs()) {
    RETURN_IF_ERROR(AddOutput(response, output, formats.For(output.name()).classification));
  }
  return absl::OkStatus();
}

void ProtoWriter::Clear() {
  message_.Clear();
  classified_.clear();
  raw_.clear();
  pieces_.clear();
  own_bytes_.clear();
  if (own_bytes_.capacity() > kKeptBytes) own_bytes_ = {};
}

absl::Status ProtoWriter::AddOutput(const InferResponse& response, const ResponseOutput& output,
                                    uint64_t classification) {
  inference::ModelInferResponse::InferOutputTensor* const tensor = message_.add_outputs();
  tensor->set_name(output.name());
  if (classification > 0) {
    ASSIGN_OR_RETURN(Classification classes, ClassifyOutput(response, output, classification));
    tensor->set_datatype(DataTypeName(DataType::kBytes));
    for (const int64_t dim : classes.shape) tensor->add_shape(dim);
    classified_.push_back(std::move(classes));
    raw_.push_back({classified_.back().tensor, /*of_response=*/false});
    return absl::OkStatus();
  }
  tensor->set_datatype(DataTypeName(output.data_type()));
  for (const int64_t dim : output.shape()) tensor->add_shape(dim);
  const OutputBuffer& buffer = output.buffer();
  raw_.push_back({absl::string_view(static_cast<const char*>(buffer.base), buffer.byte_size),
                  /*of_response=*/buffer.byte_size > kCopiedBytes});
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const WirePiece>> ProtoWriter::MakePieces(bool streamed) {
  uint64_t size = message_.ByteSizeLong();  // of the ModelInferResponse
  uint64_t of_response = 0;
  for (const RawOutput& raw : raw_) {
    size += TagSize(raw.bytes.size()) + raw.bytes.size();
    if (raw.of_response) of_response += raw.bytes.size();
  }
  if (size > kMaxMessageBytes - kMaxTagBytes) {
    return absl::InternalError(absl::StrCat("the response of model '", message_.model_name(),
                                            "' has ", size, " bytes, but gRPC carries at most ",
                                            kMaxMessageBytes - kMaxTagBytes));
  }
  // Reserved, so that pieces may view it while it grows.
  own_bytes_.reserve(static_cast<size_t>(size - of_response) + kMaxTagBytes);
  if (streamed) AppendTag(kStreamTag, size, &own_bytes_);
  message_.AppendToString(&own_bytes_);
  size_t piece_start = 0;
  const auto cut = [&] {
    pieces_.push_back({absl::string_view(own_bytes_).substr(piece_start), /*of_response=*/false});
    piece_start = own_bytes_.size();
  };
  for (const RawOutput& raw : raw_) {
    AppendTag(kRawTag, raw.bytes.size(), &own_bytes_);
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
