// Tensors on their way into and out of a Run: checks of what a request brings, batches of several
// requests as one tensor, results cut back into responses. Stateless functions.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_TENSOR_IO_H_
#define NEREID_BACKENDS_ONNXRUNTIME_TENSOR_IO_H_

#include <onnxruntime_cxx_api.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/onnxruntime/model.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/scratch.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {

// An input of one request, checked. Points into the request.
struct PreparedInput {
  bool present = true;  // false: an optional one that the request leaves out
  InputView view;
  std::vector<Piece> pieces;
  // BYTES only: the elements, which point into the pieces or, when an element may lie across two
  // pieces, into `joined`.
  std::vector<std::string_view> elements;
  std::string joined;
};

// Reads input `tensor` of `request`. INVALID_ARG when it is missing though not optional, or its
// type, shape or size is not what the model takes; an Error is better than what the runtime would
// do with such data.
Error PrepareInput(const BoundTensor& tensor, TRITONBACKEND_Request* request, PreparedInput* input);

// One tensor for the runtime out of the same input of several requests, of `rows` rows in all
// (batching) or of the only request; for a ragged input all elements as one dimension. The result
// may point into the requests and into `scratch`. May throw Ort::Exception.
Ort::Value MakeInputValue(const BoundTensor& tensor, bool batching, int64_t rows,
                          const std::vector<const PreparedInput*>& parts,
                          const Ort::MemoryInfo& memory, Scratch* scratch);

// A tensor over `data`, which belongs to the caller. May throw Ort::Exception.
Ort::Value ViewOf(const BoundTensor& tensor, const Ort::MemoryInfo& memory, const void* data,
                  size_t byte_size, const Shape& shape);

// Shape that a predictable output has for `rows` rows.
Shape PredictedShape(const BoundTensor& tensor, bool batching, int64_t rows);

// A result of a Run, ready to be cut into the rows of single requests.
class OutputSlicer {
 public:
  // INTERNAL when `value` does not have `rows` rows. May throw Ort::Exception.
  static Result<OutputSlicer> Create(const BoundTensor& tensor, bool batching, int64_t rows,
                                     const Ort::Value& value);

  // For an output of `elements` elements that is not cut into rows: "row" below means element.
  // INTERNAL when `value` does not have them. May throw Ort::Exception.
  static Result<OutputSlicer> CreateScattered(const BoundTensor& tensor, int64_t elements,
                                              const Ort::Value& value);

  // Shape of the whole tensor as the runtime gave it.
  const Shape& shape() const { return shape_; }
  // Shape, size and bytes of rows [first, first + count); everything when the model does not batch.
  Shape SliceShape(int64_t count) const;
  size_t SliceSize(int64_t first, int64_t count) const;
  void CopySlice(int64_t first, int64_t count, char* destination) const;

 private:
  OutputSlicer(const BoundTensor& tensor, bool batching) : tensor_(tensor), batching_(batching) {}
  void Read(const Ort::Value& value, size_t count);
  size_t ElementsBefore(int64_t row) const;
  std::string_view Element(size_t index) const;

  const BoundTensor& tensor_;
  const bool batching_;
  Shape shape_;
  size_t row_elements_ = 0;
  const char* data_ = nullptr;   // fixed-size types
  std::string text_;             // BYTES: all elements, end to end
  std::vector<size_t> offsets_;  // BYTES: where each begins, and the end
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_TENSOR_IO_H_
