// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/v2_request_reader.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/careful_json_reader.h"
#include "frontends/codec/fast_json_reader.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/codec/v2_document.h"

namespace nereid {
namespace {

static_assert(kBodyPadding >= kJsonPadding);

// The name of an unnamed input until the model's configuration names it.
constexpr char kRawInputName[] = "raw_input";

absl::Status ReadRawBody(const V2RequestBody& body, uint64_t max_input_size, InferRequest* request,
                         OutputFormats* formats) {
  if (body.size > max_input_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("Raw input has a byte_size (", body.size,
                     " bytes) that exceeds the maximum allowed value of ", max_input_size,
                     " bytes. Use --http-max-input-size to increase the limit."));
  }
  ASSIGN_OR_RETURN(InferInput* const input, request->AddRawInput(kRawInputName));
  input->AppendBuffer({body.data, body.size, MemoryPlace{}});
  formats->fallback.binary = true;
  return absl::OkStatus();
}

absl::Status ReadDocument(absl::string_view json, const RequestLimits& limits,
                          RequestBuffers* buffers, V2Document* document) {
  if (json.size() > limits.max_input_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "request JSON size of ", json.size(), " bytes exceeds the maximum allowed input size of ",
        limits.max_input_size, " bytes. Use --http-max-input-size to increase the limit."));
  }
  const NonFinite non_finite = document->outputs.non_finite;
  {
    ASSIGN_OR_RETURN(const BudgetUnits indexes,
                     buffers->parse_budget().Take(json.size(), json.size() * kIndexCostPerByte));
    if (ReadJsonFast(json, limits, buffers, document)) return absl::OkStatus();
    RETURN_IF_ERROR(buffers->refusal());
  }
  buffers->Clear();
  V2Document again;
  again.kept_inputs = document->kept_inputs;
  again.kept_outputs = document->kept_outputs;
  again.outputs.non_finite = non_finite;
  *document = std::move(again);
  return ReadJsonCarefully(json, limits, buffers, document);
}

// The binary part of a body. Tensors are taken from its front.
class BinaryPart {
 public:
  BinaryPart(absl::string_view bytes, const std::string& model, RequestBuffers* buffers)
      : rest_(bytes), model_(model), buffers_(buffers) {}

  // The next bytes, as the tensor of `input`: in place, or copied if they are not aligned.
  absl::StatusOr<const char*> Take(const V2Input& input) {
    if (input.byte_size > rest_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unexpected size for input '", input.name, "', expecting ",
          input.byte_size - rest_.size(), " additional bytes for model '", model_, "'"));
    }
    const char* bytes = rest_.data();
    rest_.remove_prefix(input.byte_size);
    const uint32_t alignment = DataTypeByteSize(input.data_type);
    if (alignment < 2 || reinterpret_cast<uintptr_t>(bytes) % alignment == 0) return bytes;
    bytes = buffers_->CopyAligned(bytes, input.byte_size);
    if (bytes == nullptr) return buffers_->WhyNothing("a misaligned tensor");
    return bytes;
  }

  absl::Status CheckUsedUp() const {
    if (rest_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected additional input data for model '", model_, "'"));
  }

 private:
  absl::string_view rest_;
  const std::string& model_;
  RequestBuffers* const buffers_;
};

// UNIMPLEMENTED for a correlation id that is too long, as in other protocols.
absl::Status FillOptions(V2Document* document, InferRequest* request) {
  const CorrelationId& id = document->correlation_id;
  if (id.is_string() && id.string_value().size() > kMaxCorrelationIdLength) {
    return absl::UnimplementedError(absl::StrCat("string correlation ID cannot be longer than ",
                                                 kMaxCorrelationIdLength, " characters"));
  }
  if (!document->id.empty()) request->set_id(document->id);
  request->set_flags((document->sequence_start ? kRequestFlagSequenceStart : 0) |
                     (document->sequence_end ? kRequestFlagSequenceEnd : 0));
  request->set_correlation_id(std::move(document->correlation_id));
  request->set_priority(document->priority);
  request->set_timeout_us(document->timeout_us);
  for (Parameter& parameter : document->parameters) request->AddParameter(std::move(parameter));
  return absl::OkStatus();
}

absl::Status FillInputs(absl::string_view binary_part, RequestBuffers* buffers,
                        V2Document* document, InferRequest* request) {
  BinaryPart binary(binary_part, request->model()->config().name, buffers);
  for (V2Input& given : document->inputs) {
    InputBuffer bytes{given.bytes, given.byte_size, MemoryPlace{}};
    if (given.binary) {
      ASSIGN_OR_RETURN(bytes.base, binary.Take(given));
    } else if (given.shared.has_value()) {
      ASSIGN_OR_RETURN(bytes, buffers->Borrow(*given.shared, given.data_type));
    }
    ASSIGN_OR_RETURN(InferInput* const input,
                     request->AddInput(std::move(given.name), given.data_type, given.shape));
    input->AppendBuffer(bytes);
  }
  if (document->unkept_inputs == 0) return binary.CheckUsedUp();
  request->set_unkept_inputs(document->unkept_inputs);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadV2Request(const V2RequestBody& body, const RequestLimits& limits,
                           InferRequest* request, RequestBuffers* buffers, OutputFormats* formats) {
  const size_t json_size = body.header_length.value_or(body.size);
  if (json_size > body.size) {
    return absl::InvalidArgumentError(absl::StrCat("unexpected size for request JSON, expecting ",
                                                   json_size - body.size, " more bytes"));
  }
  if (body.header_length == size_t{0}) {
    return ReadRawBody(body, limits.max_input_size, request, formats);
  }

  V2Document document;
  document.kept_inputs = KeptTensors(request->model()->config().inputs.size());
  document.kept_outputs = KeptTensors(request->model()->config().outputs.size());
  document.outputs.non_finite = formats->non_finite;
  RETURN_IF_ERROR(
      ReadDocument(absl::string_view(body.data, json_size), limits, buffers, &document));
  RETURN_IF_ERROR(FillOptions(&document, request));
  RETURN_IF_ERROR(FillInputs(absl::string_view(body.data + json_size, body.size - json_size),
                             buffers, &document, request));
  for (const OutputFormats::Named& output : document.outputs.named) {
    RETURN_IF_ERROR(request->AddRequestedOutput(output.name));
  }
  for (const auto& [output, range] : document.shared_outputs) {
    ASSIGN_OR_RETURN(document.outputs.named[output].place, buffers->FindOutput(range));
  }
  *formats = std::move(document.outputs);
  return absl::OkStatus();
}

}  // namespace nereid
