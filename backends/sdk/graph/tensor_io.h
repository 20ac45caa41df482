// Tensors on their way into and out of a run: checks of what a request brings, batches of several
// requests as one tensor, results cut back into responses. Knows no runtime. Values, used by the
// thread that has the batch.
#ifndef NEREID_BACKENDS_SDK_GRAPH_TENSOR_IO_H_
#define NEREID_BACKENDS_SDK_GRAPH_TENSOR_IO_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/graph/bound_model.h"
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
// type, shape or size is not what the model takes; an Error is better than what a runtime would do
// with such data.
Error PrepareInput(const BoundTensor& tensor, TRITONBACKEND_Request* request, PreparedInput* input);

// A tensor that a run takes: the same input of all requests of the run. Points into the requests
// and into a Scratch; valid until the run has ended.
struct RunInput {
  const BoundTensor* tensor = nullptr;
  size_t index = 0;  // in BoundModel::inputs(); the computed inputs follow those
  Shape shape;       // empty: a scalar
  size_t byte_size = 0;
  std::vector<Piece> pieces;               // the bytes, in order; empty for BYTES
  std::vector<std::string_view> elements;  // BYTES
  Scratch* scratch = nullptr;

  // The bytes as one buffer, aligned to `alignment` (a power of two): where they lie if they do,
  // otherwise a copy.
  const char* Contiguous(size_t alignment) { return Gather(pieces, alignment, scratch); }
};

// Fills `input` (but for index and scratch) with the same input of several requests, of `rows` rows
// in all (batching) or of the only request; for a ragged input all elements as one dimension.
void JoinInputs(const BoundTensor& tensor, bool batching, int64_t rows,
                const std::vector<const PreparedInput*>& parts, RunInput* input);

// A tensor that is wanted from a run.
struct RunOutput {
  const BoundTensor* tensor = nullptr;
  size_t index = 0;  // in BoundModel::outputs()
  // If the shape is known and there is one request only: where the runtime has to write
  // `place_size` bytes of the shape `shape`. Null: the runtime's own memory.
  char* place = nullptr;
  size_t place_size = 0;

  // What the runtime gave, valid until the run has ended: it sets these.
  Shape shape;
  const char* data = nullptr;              // types of fixed size; `place` if there is one
  std::vector<std::string_view> elements;  // BYTES
  std::string text;                        // room for the elements, if the runtime keeps none
};

// A result of a run, ready to be cut into the rows of single requests. Points to the RunOutput.
class OutputSlicer {
 public:
  // INTERNAL when `output` does not have `rows` rows.
  static Result<OutputSlicer> Create(const RunOutput& output, bool batching, int64_t rows);

  // For an output of `elements` elements that is not cut into rows: "row" below means element.
  // INTERNAL when `output` does not have them.
  static Result<OutputSlicer> CreateScattered(const RunOutput& output, int64_t elements);

  // Shape, size and bytes of rows [first, first + count); everything when the model does not batch.
  Shape SliceShape(int64_t count) const;
  size_t SliceSize(int64_t first, int64_t count) const;
  void CopySlice(int64_t first, int64_t count, char* destination) const;

 private:
  OutputSlicer(const RunOutput& output, bool batching, size_t row_elements)
      : output_(output), batching_(batching), row_elements_(row_elements) {}
  size_t ElementsBefore(int64_t row) const;

  const RunOutput& output_;
  const bool batching_;
  const size_t row_elements_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_TENSOR_IO_H_
