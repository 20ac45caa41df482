// SPDX-License-Identifier: Apache-2.0
// Transfer of tensors into and out of a run: checks the inputs of a request, joins several requests
// into one tensor, and divides results into responses. Independent of the runtime. Values, used by
// the thread that has the batch.
#ifndef NEREID_BACKENDS_SDK_GRAPH_TENSOR_IO_H_
#define NEREID_BACKENDS_SDK_GRAPH_TENSOR_IO_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/graph/output_blocks.h"
#include "backends/sdk/scratch.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {

// An input of one request, checked. Points into the request.
struct PreparedInput {
  bool present = true;  // false: an optional input that the request omits
  InputView view;
  std::vector<Piece> pieces;
  // BYTES only: the elements, which point into the pieces or, when an element may lie across two
  // pieces, into `joined`.
  std::vector<std::string_view> elements;
  std::string joined;
};

// Reads input `tensor` of `request`. INVALID_ARG if it is missing and not optional, or if the model
// does not accept its type, shape or size; an Error is better than what a runtime would do with
// such data.
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

  // The bytes as one buffer, aligned to `alignment` (a power of two): in place if possible,
  // otherwise a copy.
  const char* Contiguous(size_t alignment) { return Gather(pieces, alignment, scratch); }
};

// Fills `input` (except index and scratch) with the same input of several requests, of `rows` rows
// in all (batching) or of the only request; for a ragged input all elements as one dimension.
void JoinInputs(const BoundTensor& tensor, bool batching, int64_t rows,
                const std::vector<const PreparedInput*>& parts, RunInput* input);

// A tensor requested from a run.
struct RunOutput {
  const BoundTensor* tensor = nullptr;
  size_t index = 0;  // in BoundModel::outputs()
  // If the shape is known: the memory of `place_size` bytes for a result of shape `shape`, which
  // the runtime must use. Null: the runtime's own memory.
  char* place = nullptr;
  size_t place_size = 0;
  OutputBlock block;  // of `place`, if there are several requests; null: the place is in a response
  bool in_response() const { return place != nullptr && block == nullptr; }

  // The result, set by the runtime and valid until the run has ended.
  Shape shape;
  const char* data = nullptr;              // types of fixed size; `place` if there is one
  std::vector<std::string_view> elements;  // BYTES
  std::string text;                        // memory for elements that the runtime does not keep
};

// A result of a run, ready to be cut into the rows of single requests. Points to the RunOutput.
class OutputSlicer {
 public:
  // INTERNAL if `output` does not have `rows` rows.
  static Result<OutputSlicer> Create(const RunOutput& output, bool batching, int64_t rows);

  // For an output of `elements` elements that is not cut into rows: "row" below means element.
  // INTERNAL if `output` has another number.
  static Result<OutputSlicer> CreateScattered(const RunOutput& output, int64_t elements);

  // Shape, size and bytes of rows [first, first + count); everything if the model does not batch.
  Shape SliceShape(int64_t count) const;
  size_t SliceSize(int64_t first, int64_t count) const;
  void CopySlice(int64_t first, int64_t count, char* destination) const;
  // REQUIRES: the elements have a fixed size.
  std::string_view Slice(int64_t first, int64_t count) const;

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
