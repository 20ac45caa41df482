// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/infer_request_reader.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/infer_parameters.h"
#include "frontends/grpc/typed_contents.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;
using InputTensor = ModelInferRequest::InferInputTensor;

// Reads the inputs of one request, in order; each says where its data is.
class InputReader {
 public:
  InputReader(const SplitInferRequest& split, InferRequest* request, RequestBuffers* buffers)
      : split_(split), request_(request), buffers_(buffers) {}

  absl::Status Read(const InputTensor& tensor) {
    RETURN_IF_ERROR(CheckLength("name of an input", tensor.name()));
    RETURN_IF_ERROR(CheckParameterCount("an input", tensor.parameters().size()));
    RETURN_IF_ERROR(CheckDimensionCount(tensor.name(), static_cast<size_t>(tensor.shape_size())));
    const TensorOfModel names{tensor.name(), request_->model()->config().name};
    ASSIGN_OR_RETURN(const std::optional<SharedMemoryRange> shared,
                     SharedMemoryOf(tensor.name(), tensor.parameters()));
    if (shared.has_value() && tensor.has_contents()) return ContentsBesideRegion(names);
    const auto shape =
        absl::MakeConstSpan(tensor.shape().data(), static_cast<size_t>(tensor.shape_size()));
    if (shared.has_value()) return AddShared(tensor, shape, *shared);
    return Add(names, tensor.datatype(), shape,
               tensor.has_contents() ? &tensor.contents() : nullptr);
  }

  absl::Status Read(const PlainInput& tensor) {
    RETURN_IF_ERROR(CheckLength("name of an input", tensor.name));
    return Add({tensor.name, request_->model()->config().name}, tensor.data_type, tensor.shape,
               nullptr);
  }

 private:
  absl::Status AddShared(const InputTensor& tensor, absl::Span<const int64_t> shape,
                         const SharedMemoryRange& range) {
    const DataType data_type = ParseDataType(tensor.datatype());
    ASSIGN_OR_RETURN(InferInput* const input, request_->AddInput(tensor.name(), data_type, shape));
    ASSIGN_OR_RETURN(const InputBuffer bytes, buffers_->Borrow(range, data_type));
    input->AppendBuffer(bytes);
    return absl::OkStatus();
  }

  // `contents`: null if the message has none for the tensor.
  absl::Status Add(const TensorOfModel& names, absl::string_view type,
                   absl::Span<const int64_t> shape,
                   const inference::InferTensorContents* contents) {
    const DataType data_type = ParseDataType(type);
    ASSIGN_OR_RETURN(InferInput* const input,
                     request_->AddInput(std::string(names.tensor), data_type, shape));
    if (!split_.raw_contents.empty()) {
      return contents != nullptr ? ContentsBesideRaw(names) : TakeRaw(names, input);
    }
    if (contents == nullptr) return NoData(names);
    ASSIGN_OR_RETURN(const absl::string_view bytes,
                     TypedContents(names, data_type, *contents, buffers_));
    input->AppendBuffer({bytes.data(), bytes.size(), MemoryPlace{}});
    return absl::OkStatus();
  }

  absl::Status TakeRaw(const TensorOfModel& names, InferInput* input) {
    if (next_raw_ == split_.raw_contents.size()) return NoData(names);
    const RawContent& content = split_.raw_contents[next_raw_++];
    const absl::Span<const absl::string_view> pieces = split_.PiecesOf(content);
    if (pieces.size() == 1) return AppendAligned(pieces[0], input);
    // The core joins them into one piece, which is aligned.
    for (absl::string_view piece : pieces) {
      input->AppendBuffer({piece.data(), piece.size(), MemoryPlace{}});
    }
    return absl::OkStatus();
  }

  absl::Status AppendAligned(absl::string_view piece, InferInput* input) {
    const char* bytes = piece.data();
    const uint32_t alignment = DataTypeByteSize(input->data_type());
    if (alignment > 1 && reinterpret_cast<uintptr_t>(bytes) % alignment != 0) {
      bytes = buffers_->CopyAligned(bytes, piece.size());
      if (bytes == nullptr) return buffers_->WhyNothing("a misaligned tensor");
    }
    input->AppendBuffer({bytes, piece.size(), MemoryPlace{}});
    return absl::OkStatus();
  }

  static absl::Status ContentsBesideRegion(const TensorOfModel& names) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected 'content' provided when using shared memory for input tensor '",
                     names.tensor, "' for model '", names.model, "'"));
  }
  static absl::Status ContentsBesideRaw(const TensorOfModel& names) {
    return absl::InvalidArgumentError(
        absl::StrCat("contents field must not be specified when using raw_input_contents for '",
                     names.tensor, "' for model '", names.model, "'"));
  }
  static absl::Status NoData(const TensorOfModel& names) {
    return absl::InvalidArgumentError(absl::StrCat("unable to find data for input tensor '",
                                                   names.tensor, "' for model '", names.model,
                                                   "' in request."));
  }

  const SplitInferRequest& split_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
  size_t next_raw_ = 0;
};

absl::Status ClassificationBesideRegion() {
  return absl::InvalidArgumentError(
      "Output can't set both 'shared_memory_region' and 'classification'");
}

absl::Status ReadOutput(const ModelInferRequest::InferRequestedOutputTensor& tensor,
                        InferRequest* request, const RequestBuffers& buffers,
                        OutputFormats* formats) {
  RETURN_IF_ERROR(CheckLength("name of an output", tensor.name()));
  RETURN_IF_ERROR(CheckParameterCount("an output", tensor.parameters().size()));
  RETURN_IF_ERROR(request->AddRequestedOutput(tensor.name()));
  ASSIGN_OR_RETURN(const std::optional<SharedMemoryRange> shared,
                   SharedMemoryOf(tensor.name(), tensor.parameters()));
  ASSIGN_OR_RETURN(const uint64_t classification, ClassificationOf(tensor.parameters()));
  if (shared.has_value()) {
    if (classification > 0) return ClassificationBesideRegion();
    ASSIGN_OR_RETURN(SharedMemorySlice place, buffers.FindOutput(*shared));
    formats->named.push_back({tensor.name(), OutputFormat(), std::move(place)});
  } else if (classification > 0) {
    OutputFormat format;
    format.classification = classification;
    formats->named.push_back({tensor.name(), format});
  }
  return absl::OkStatus();
}

int KeptOf(int given, size_t of_model) {
  return static_cast<int>(std::min(static_cast<size_t>(given), KeptTensors(of_model)));
}

// What fits into a plain request is kept.
static_assert(PlainRequest::kMostTensors <= kKeptTensors);
static_assert(PlainRequest::kMostDimensions <= kMaxDimensions);

}  // namespace

absl::Status ReadInferRequest(const ReceivedRequest& received, InferRequest* request,
                              RequestBuffers* buffers, OutputFormats* formats) {
  const ModelInferRequest& message = received.message;
  const CompiledModel& model = request->model()->config();
  RETURN_IF_ERROR(CheckLength("id of the request", message.id()));
  if (!message.id().empty()) request->set_id(message.id());
  RETURN_IF_ERROR(ReadRequestParameters(message.parameters(), request));
  const int kept_inputs = KeptOf(message.inputs_size(), model.inputs.size());
  InputReader inputs(received.split, request, buffers);
  for (int i = 0; i < kept_inputs; ++i) RETURN_IF_ERROR(inputs.Read(message.inputs(i)));
  request->set_unkept_inputs(static_cast<size_t>(message.inputs_size() - kept_inputs));
  // One more input than the model has means that one is unknown or duplicated.
  const int kept_outputs = KeptOf(message.outputs_size(), model.outputs.size());
  for (int i = 0; i < kept_outputs; ++i) {
    RETURN_IF_ERROR(ReadOutput(message.outputs(i), request, *buffers, formats));
  }
  return absl::OkStatus();
}

absl::Status ReadPlainInferRequest(const PlainRequest& plain, const SplitInferRequest& split,
                                   InferRequest* request, RequestBuffers* buffers) {
  RETURN_IF_ERROR(CheckLength("id of the request", plain.id));
  request->set_id(plain.id);
  InputReader inputs(split, request, buffers);
  for (const PlainInput& input : plain.inputs) RETURN_IF_ERROR(inputs.Read(input));
  for (const absl::string_view output : plain.outputs) {
    RETURN_IF_ERROR(CheckLength("name of an output", output));
    RETURN_IF_ERROR(request->AddRequestedOutput(std::string(output)));
  }
  return absl::OkStatus();
}

}  // namespace nereid
