// SPDX-License-Identifier: Apache-2.0
// InferResponse: one response to a request; also what TRITONSERVER_InferenceResponse* and
// TRITONBACKEND_Response* point to. Thread-compatible: one owner at a time (the backend until it
// is sent, then whoever received it).
#ifndef NEREID_INFER_RESPONSE_H_
#define NEREID_INFER_RESPONSE_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>
#include <vector>

#include "base/export.h"
#include "c_objects/buffer_attributes.h"
#include "infer/serving_model.h"
#include "memory/output_allocator.h"
#include "model/parameter.h"
#include "model/shape.h"
#include "observe/trace/inference_trace.h"

namespace nereid {

class ResponseStream;
class InferResponse;

// One output tensor of a response; what TRITONBACKEND_Output* points to.
class NEREID_API ResponseOutput {
 public:
  ResponseOutput(InferResponse* response, std::string name, DataType type, Shape shape)
      : response_(response), name_(std::move(name)), data_type_(type), shape_(std::move(shape)) {}
  ResponseOutput(ResponseOutput&&) = default;

  const std::string& name() const { return name_; }
  DataType data_type() const { return data_type_; }
  // The shape that the client sees, batch dimension included.
  const Shape& shape() const { return shape_; }
  // Where the bytes are: until the response is sent, what the backend fills, and then what the
  // allocator has given.
  const OutputBuffer& buffer() const { return buffer_; }
  bool allocated() const { return allocated_; }

  // Asks the request's allocator for the buffer. ALREADY_EXISTS on a second call. If the buffer is
  // on a GPU that the server uses and `wish` is not a GPU, the backend fills memory of the host,
  // which is copied to the buffer when the response is sent.
  absl::Status Allocate(size_t byte_size, MemoryPlace wish);
  // Has the response send `bytes` from where they are. Errors of Allocate; UNIMPLEMENTED if the
  // allocator takes no bytes of others. After an error nothing has changed.
  absl::Status Lend(const LentBytes& bytes);
  // Gives `buffer`, made by a HeapOutputAllocator, to the output without a copy. REQUIRES: not
  // allocated(), and the allocator of the response accepts such buffers.
  void Adopt(const OutputBuffer& buffer);
  // Hands the buffer to the caller, who releases it through the response's allocator unless its
  // base is null. Afterwards the output is empty.
  OutputBuffer TakeBuffer();
  // Description of the buffer, owned by the output. REQUIRES: allocated().
  TRITONSERVER_BufferAttributes* Attributes();

 private:
  friend class InferResponse;
  absl::Status CheckUnallocated() const;
  // Tells the stream if there was no memory; returns `status`.
  absl::Status NoteRefusal(absl::Status status) const;
  void SetBuffer(const OutputBuffer& buffer);
  // Makes memory of the host the buffer until Finish; `given` comes from the allocator.
  absl::Status Stage(const OutputBuffer& given);
  // What was filled on the host has been copied to the allocator's buffer.
  void Unstage();
  void Release();

  InferResponse* response_;
  std::string name_;
  DataType data_type_;
  Shape shape_;
  OutputBuffer buffer_;
  bool allocated_ = false;
  std::unique_ptr<OutputBuffer> staged_for_;  // the allocator's buffer; null: it is buffer_
  std::unique_ptr<TRITONSERVER_BufferAttributes> attributes_;  // made when asked for
};

class NEREID_API InferResponse {
 public:
  // Made through ResponseStream::NewResponse. Holds `trace`, which may be null, as long as it
  // lives: its receiver may use the trace.
  InferResponse(std::shared_ptr<ResponseStream> stream, std::shared_ptr<ServingModel> model,
                std::string id, const OutputAllocator* allocator, void* allocator_userp,
                TracePtr trace = nullptr);
  ~InferResponse();  // releases the buffers
  InferResponse(const InferResponse&) = delete;
  InferResponse& operator=(const InferResponse&) = delete;

  const absl::Status& status() const { return status_; }
  void set_status(absl::Status status) { status_ = std::move(status); }
  const std::string& id() const { return id_; }
  const std::string& model_name() const { return model_->config().name; }
  int64_t model_version() const { return model_->config().version; }
  const std::shared_ptr<ServingModel>& model() const { return model_; }

  // Adds an output. INVALID_ARGUMENT when the model has no such output, ALREADY_EXISTS when this
  // response has it. A shape of a model output with `reshape` is mapped back to the configured
  // dims. The pointer is valid as long as the response.
  absl::StatusOr<ResponseOutput*> AddOutput(absl::string_view name, DataType type,
                                            absl::Span<const int64_t> shape);
  // Like AddOutput, but `shape` is already the shape that the client sees, `reshape` or not.
  absl::StatusOr<ResponseOutput*> AddClientOutput(absl::string_view name, DataType type,
                                                  Shape shape);
  absl::InlinedVector<ResponseOutput, 2>& outputs() { return outputs_; }
  const absl::InlinedVector<ResponseOutput, 2>& outputs() const { return outputs_; }
  void AddParameter(Parameter parameter) { parameters_.push_back(std::move(parameter)); }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  const OutputAllocator* allocator() const { return allocator_; }
  void* allocator_userp() const { return allocator_userp_; }
  // The stream that will carry the response; dropped when it is sent.
  std::shared_ptr<ResponseStream> TakeStream() { return std::move(stream_); }
  const std::shared_ptr<ResponseStream>& stream() const { return stream_; }
  // The client of the stream, as the one who holds units; null without a stream.
  const std::shared_ptr<Holder>* holder() const;
  // Copies outputs to GPUs, where their buffers are and the backend has filled memory of the host.
  // The response becomes an error if that fails. Blocks if there are such outputs.
  void FinishOutputs() noexcept;
  // Drops outputs and parameters (for a response that became an error).
  void ClearOutputs();

 private:
  absl::Status CopyStaged();
  // The model's output of that name, which this response must not have yet; the errors of
  // AddOutput.
  absl::StatusOr<const OutputSpec*> FindNewOutput(absl::string_view name) const;

  const TracePtr trace_;  // mostly null
  std::shared_ptr<ResponseStream> stream_;
  const std::shared_ptr<ServingModel> model_;
  const std::string id_;
  const OutputAllocator* const allocator_;
  void* const allocator_userp_;
  absl::Status status_;
  absl::InlinedVector<ResponseOutput, 2> outputs_;
  std::vector<Parameter> parameters_;
};

}  // namespace nereid

#endif  // NEREID_INFER_RESPONSE_H_
