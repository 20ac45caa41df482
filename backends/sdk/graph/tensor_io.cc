// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/tensor_io.h"

#include <algorithm>
#include <cstring>

namespace nereid_backend {
namespace {

bool ShapeFits(const BoundTensor& tensor, const InputView& view) {
  if (tensor.any_shape) {
    return std::all_of(view.dims, view.dims + view.dim_count, [](int64_t dim) { return dim >= 0; });
  }
  const Shape& model = tensor.dims;
  // A scalar arrives as one element.
  if (model.empty()) return ElementCount(view.dims, view.dim_count) == 1;
  if (model.size() != view.dim_count) return false;
  for (size_t i = 0; i < model.size(); ++i) {
    if (view.dims[i] < 0 || (model[i] >= 0 && model[i] != view.dims[i])) return false;
  }
  return true;
}

Error CheckInput(const BoundTensor& tensor, const InputView& view) {
  if (view.type != tensor.type) {
    return Error::InvalidArg(StrCat("unexpected data type for input '", tensor.name, "': expected ",
                                    TRITONSERVER_DataTypeString(tensor.type), ", got ",
                                    TRITONSERVER_DataTypeString(view.type)));
  }
  if (!ShapeFits(tensor, view)) {
    return Error::InvalidArg(StrCat("unexpected shape for input '", tensor.name, "': expected ",
                                    ShapeToString(tensor.dims), ", got ",
                                    ShapeToString(view.dims, view.dim_count)));
  }
  const int64_t count = ElementCount(view.dims, view.dim_count);
  const uint64_t expected = static_cast<uint64_t>(count) * tensor.element_size;
  if (count < 0 || (tensor.element_size > 0 && expected != view.byte_size)) {
    return Error::InvalidArg(StrCat("unexpected size of input '", tensor.name, "': shape ",
                                    ShapeToString(view.dims, view.dim_count), " needs ", expected,
                                    " bytes, got ", view.byte_size));
  }
  return Error();
}

Error ParseElements(const BoundTensor& tensor, PreparedInput* input) {
  std::string_view wire;
  if (input->pieces.size() == 1) {
    wire = {input->pieces[0].data, input->pieces[0].size};
  } else {
    input->joined.resize(TotalSize(input->pieces));
    CopyPieces(input->pieces, input->joined.data());
    wire = input->joined;
  }
  const int64_t count = ElementCount(input->view.dims, input->view.dim_count);
  const Error error = ParseBytes(wire, static_cast<size_t>(count), &input->elements);
  if (error.ok()) return Error();
  return Error(error.code(), StrCat("input '", tensor.name, "': ", error.message()));
}

// The shape of the tensor that JoinInputs makes.
void JoinShapes(const BoundTensor& tensor, bool batching, int64_t rows,
                const std::vector<const PreparedInput*>& parts, Shape* shape) {
  shape->clear();
  if (tensor.ragged) {
    int64_t elements = 0;
    for (const PreparedInput* part : parts) {
      elements += ElementCount(part->view.dims, part->view.dim_count);
    }
    shape->push_back(elements);
    return;
  }
  const InputView& first = parts[0]->view;
  if (!tensor.dims.empty() || tensor.any_shape) {
    shape->assign(first.dims, first.dims + first.dim_count);
  }
  if (batching) (*shape)[0] = rows;
}

}  // namespace

Error PrepareInput(const BoundTensor& tensor, TRITONBACKEND_Request* request,
                   PreparedInput* input) {
  input->pieces.clear();
  input->elements.clear();
  Result<InputView> view = InputView::Find(request, tensor.name.c_str());
  input->present = view.ok();
  if (!view.ok()) return tensor.optional ? Error() : view.TakeError();
  input->view = *view;
  NB_RETURN_IF_ERROR(CheckInput(tensor, input->view));
  NB_RETURN_IF_ERROR(AppendPieces(input->view, &input->pieces));
  if (tensor.element_size == 0) return ParseElements(tensor, input);
  if (TotalSize(input->pieces) == input->view.byte_size) return Error();
  return Error::InvalidArg(StrCat("input '", tensor.name, "' has ", TotalSize(input->pieces),
                                  " bytes of data, expected ", input->view.byte_size));
}

void JoinInputs(const BoundTensor& tensor, bool batching, int64_t rows,
                const std::vector<const PreparedInput*>& parts, RunInput* input) {
  input->tensor = &tensor;
  input->pieces.clear();
  input->elements.clear();
  JoinShapes(tensor, batching, rows, parts, &input->shape);
  input->byte_size = static_cast<size_t>(ElementCount(input->shape.data(), input->shape.size())) *
                     tensor.element_size;
  for (const PreparedInput* part : parts) {
    if (tensor.element_size > 0) {
      input->pieces.insert(input->pieces.end(), part->pieces.begin(), part->pieces.end());
    } else {
      input->elements.insert(input->elements.end(), part->elements.begin(), part->elements.end());
    }
  }
}

Result<OutputSlicer> OutputSlicer::Create(const RunOutput& output, bool batching, int64_t rows) {
  const Shape& shape = output.shape;
  if (batching && (shape.empty() || shape[0] != rows)) {
    return Error::Internal(StrCat("output '", output.tensor->name, "' has shape ",
                                  ShapeToString(shape), " for a batch of ", rows,
                                  " rows; if its first dimension is not the batch, set "
                                  "max_batch_size: 0 in the configuration of the model"));
  }
  const auto count = static_cast<size_t>(ElementCount(shape.data(), shape.size()));
  if (!batching) return OutputSlicer(output, false, count);
  return OutputSlicer(output, true, rows > 0 ? count / static_cast<size_t>(rows) : 0);
}

Result<OutputSlicer> OutputSlicer::CreateScattered(const RunOutput& output, int64_t elements) {
  const Shape& shape = output.shape;
  if (elements < 0 || ElementCount(shape.data(), shape.size()) != elements) {
    return Error::Internal(StrCat("output '", output.tensor->name, "' has shape ",
                                  ShapeToString(shape),
                                  ", but the requests of the batch "
                                  "are to get ",
                                  elements, " elements"));
  }
  return OutputSlicer(output, true, 1);
}

size_t OutputSlicer::ElementsBefore(int64_t row) const {
  return static_cast<size_t>(row) * row_elements_;
}

Shape OutputSlicer::SliceShape(int64_t count) const {
  Shape shape = output_.shape;
  if (batching_) shape[0] = count;
  if (shape.empty()) shape = output_.tensor->scalar_shape;
  return shape;
}

size_t OutputSlicer::SliceSize(int64_t first, int64_t count) const {
  const size_t begin = batching_ ? ElementsBefore(first) : 0;
  const size_t end = batching_ ? ElementsBefore(first + count) : row_elements_;
  if (output_.tensor->element_size > 0) return (end - begin) * output_.tensor->element_size;
  size_t size = 0;
  for (size_t i = begin; i < end; ++i) size += BytesWireSize(output_.elements[i]);
  return size;
}

std::string_view OutputSlicer::Slice(int64_t first, int64_t count) const {
  const size_t begin = batching_ ? ElementsBefore(first) : 0;
  return {output_.data + begin * output_.tensor->element_size, SliceSize(first, count)};
}

void OutputSlicer::CopySlice(int64_t first, int64_t count, char* destination) const {
  if (output_.tensor->element_size > 0) {
    const std::string_view slice = Slice(first, count);
    if (!slice.empty()) std::memcpy(destination, slice.data(), slice.size());
    return;
  }
  const size_t begin = batching_ ? ElementsBefore(first) : 0;
  const size_t end = batching_ ? ElementsBefore(first + count) : row_elements_;
  for (size_t i = begin; i < end; ++i) destination = WriteBytes(output_.elements[i], destination);
}

}  // namespace nereid_backend
