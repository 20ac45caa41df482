#include "frontends/grpc/proto_writer.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

// Field 6, raw_output_contents, length-delimited.
constexpr char kRawTag = 6 << 3 | 2;
constexpr size_t kMaxTagBytes = 11;  // tag and length
constexpr size_t kKeptBytes = 65536;
constexpr uint64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();

void AppendRawTag(uint64_t length, std::string* out) {
  out->push_back(kRawTag);
  while (length >= 0x80) {
    out->push_back(static_cast<char>(length | 0x80));
    length >>= 7;
  }
  out->push_back(static_cast<char>(length));
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
  uint64_t total = message_.ByteSizeLong();
  for (const RawOutput& raw : raw_) total += kMaxTagBytes + raw.bytes.size();
  if (total > kMaxMessageBytes) {
    return absl::InternalError(absl::StrCat("the response of model '", response.model_name(),
                                            "' has ", total, " bytes, but gRPC carries at most ",
                                            kMaxMessageBytes));
  }
  MakePieces();
  return absl::MakeConstSpan(pieces_);
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

void ProtoWriter::MakePieces() {
  size_t own_size = message_.ByteSizeLong();
  for (const RawOutput& raw : raw_) {
    own_size += kMaxTagBytes + (raw.of_response ? 0 : raw.bytes.size());
  }
  own_bytes_.reserve(own_size);  // so that pieces may view it while it grows
  message_.AppendToString(&own_bytes_);
  size_t piece_start = 0;
  const auto cut = [&] {
    pieces_.push_back({absl::string_view(own_bytes_).substr(piece_start), /*of_response=*/false});
    piece_start = own_bytes_.size();
  };
  for (const RawOutput& raw : raw_) {
    AppendRawTag(raw.bytes.size(), &own_bytes_);
    if (raw.of_response) {
      cut();
      pieces_.push_back({raw.bytes, /*of_response=*/true});
    } else {
      own_bytes_.append(raw.bytes.data(), raw.bytes.size());
    }
  }
  if (piece_start < own_bytes_.size() || pieces_.empty()) cut();
}

}  // namespace nereid
