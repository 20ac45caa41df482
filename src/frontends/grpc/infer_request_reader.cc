#include "frontends/grpc/infer_request_reader.h"

#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/grpc/infer_parameters.h"
#include "frontends/grpc/typed_contents.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;
using InputTensor = ModelInferRequest::InferInputTensor;

absl::Status UnknownRegion(const std::string& region) {
  return absl::NotFoundError(absl::StrCat("Unable to find shared memory region: '", region, "'"));
}

// Reads the inputs of one request, in order: each takes its data where it says.
class InputReader {
 public:
  InputReader(const ReceivedRequest& received, InferRequest* request, RequestBuffers* buffers)
      : received_(received), request_(request), buffers_(buffers) {}

  absl::Status Read(const InputTensor& tensor) {
    const TensorOfModel names{tensor.name(), request_->model()->config().name};
    ASSIGN_OR_RETURN(const std::string* const region,
                     SharedMemoryRegionOf(tensor.name(), tensor.parameters()));
    if (region != nullptr) {
      if (tensor.has_contents()) return ContentsBesideRegion(names);
      return UnknownRegion(*region);
    }
    const DataType data_type = ParseDataType(tensor.datatype());
    ASSIGN_OR_RETURN(
        InferInput* const input,
        request_->AddInput(
            tensor.name(), data_type,
            absl::MakeConstSpan(tensor.shape().data(), static_cast<size_t>(tensor.shape_size()))));
    if (!received_.split.raw_contents.empty()) {
      return tensor.has_contents() ? ContentsBesideRaw(names) : TakeRaw(names, input);
    }
    if (!tensor.has_contents()) return NoData(names);
    ASSIGN_OR_RETURN(const absl::string_view bytes,
                     TypedContents(names, data_type, tensor.contents(), buffers_));
    input->AppendBuffer({bytes.data(), bytes.size(), MemoryPlace{}});
    return absl::OkStatus();
  }

 private:
  absl::Status TakeRaw(const TensorOfModel& names, InferInput* input) {
    if (next_raw_ == received_.split.raw_contents.size()) return NoData(names);
    const RawContent& content = received_.split.raw_contents[next_raw_++];
    const absl::Span<const absl::string_view> pieces = received_.split.PiecesOf(content);
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
      if (bytes == nullptr) {
        return absl::UnavailableError("out of memory for a misaligned tensor");
      }
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

  const ReceivedRequest& received_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
  size_t next_raw_ = 0;
};

absl::Status ReadOutput(const ModelInferRequest::InferRequestedOutputTensor& tensor,
                        InferRequest* request, OutputFormats* formats) {
  RETURN_IF_ERROR(request->AddRequestedOutput(tensor.name()));
  ASSIGN_OR_RETURN(const std::string* const region,
                   SharedMemoryRegionOf(tensor.name(), tensor.parameters()));
  if (region != nullptr) return UnknownRegion(*region);
  ASSIGN_OR_RETURN(const uint64_t classification, ClassificationOf(tensor.parameters()));
  if (classification > 0) {
    OutputFormat format;
    format.classification = classification;
    formats->named.push_back({tensor.name(), format});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadInferRequest(const ReceivedRequest& received, InferRequest* request,
                              RequestBuffers* buffers, OutputFormats* formats) {
  const ModelInferRequest& message = received.message;
  if (!message.id().empty()) request->set_id(message.id());
  RETURN_IF_ERROR(ReadRequestParameters(message.parameters(), request));
  InputReader inputs(received, request, buffers);
  for (const InputTensor& tensor : message.inputs()) RETURN_IF_ERROR(inputs.Read(tensor));
  for (const auto& tensor : message.outputs()) {
    RETURN_IF_ERROR(ReadOutput(tensor, request, formats));
  }
  return absl::OkStatus();
}

uint64_t TypedContentBytes(const ModelInferRequest& message) {
  uint64_t bytes = 0;
  for (const InputTensor& tensor : message.inputs()) {
    if (tensor.has_contents()) bytes += tensor.contents().SpaceUsedLong();
  }
  return bytes;
}

}  // namespace nereid
