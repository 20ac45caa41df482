#include "backends/onnxruntime/tensor_io.h"

#include <algorithm>
#include <cstring>

namespace nereid_backend {
namespace {

bool ShapeFits(const Shape& model, const InputView& view) {
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
  if (!ShapeFits(tensor.dims, view)) {
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

Ort::Value MakeStrings(const std::vector<const PreparedInput*>& parts, const Shape& shape) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value value = Ort::Value::CreateTensor(allocator, shape.data(), shape.size(),
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  size_t index = 0;
  for (const PreparedInput* part : parts) {
    for (const std::string_view element : part->elements) {
      // This call and not FillStringTensor: an element may hold NUL bytes.
      char* buffer = value.GetResizedStringTensorElementBuffer(index++, element.size());
      if (!element.empty()) std::memcpy(buffer, element.data(), element.size());
    }
  }
  return value;
}

// Shape of the tensor that MakeInputValue makes.
Shape JoinedShape(const BoundTensor& tensor, bool batching, int64_t rows,
                  const std::vector<const PreparedInput*>& parts) {
  if (tensor.ragged) {
    int64_t elements = 0;
    for (const PreparedInput* part : parts) {
      elements += ElementCount(part->view.dims, part->view.dim_count);
    }
    return {elements};
  }
  const InputView& first = parts[0]->view;
  Shape shape;
  if (!tensor.dims.empty()) shape.assign(first.dims, first.dims + first.dim_count);
  if (batching) shape[0] = rows;
  return shape;
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

Ort::Value ViewOf(const BoundTensor& tensor, const Ort::MemoryInfo& memory, const void* data,
                  size_t byte_size, const Shape& shape) {
  // The runtime takes a pointer to non-const for inputs too, and does not write to them.
  return Ort::Value::CreateTensor(memory, const_cast<void*>(data), byte_size, shape.data(),
                                  shape.size(), tensor.onnx_type);
}

Ort::Value MakeInputValue(const BoundTensor& tensor, bool batching, int64_t rows,
                          const std::vector<const PreparedInput*>& parts,
                          const Ort::MemoryInfo& memory, Scratch* scratch) {
  const Shape shape = JoinedShape(tensor, batching, rows, parts);
  if (tensor.element_size == 0) return MakeStrings(parts, shape);
  const size_t byte_size =
      static_cast<size_t>(ElementCount(shape.data(), shape.size())) * tensor.element_size;
  if (parts.size() == 1) {
    const char* data = Gather(parts[0]->pieces, tensor.element_size, scratch);
    return ViewOf(tensor, memory, data, byte_size, shape);
  }
  std::vector<Piece> pieces;
  for (const PreparedInput* part : parts) {
    pieces.insert(pieces.end(), part->pieces.begin(), part->pieces.end());
  }
  return ViewOf(tensor, memory, Gather(pieces, tensor.element_size, scratch), byte_size, shape);
}

Shape PredictedShape(const BoundTensor& tensor, bool batching, int64_t rows) {
  Shape shape = tensor.dims;
  if (batching) shape[0] = rows;
  return shape;
}

Result<OutputSlicer> OutputSlicer::Create(const BoundTensor& tensor, bool batching, int64_t rows,
                                          const Ort::Value& value) {
  OutputSlicer slicer(tensor, batching);
  const auto info = value.GetTensorTypeAndShapeInfo();
  slicer.shape_ = info.GetShape();
  if (batching && (slicer.shape_.empty() || slicer.shape_[0] != rows)) {
    return Error::Internal(StrCat("output '", tensor.name, "' has shape ",
                                  ShapeToString(slicer.shape_), " for a batch of ", rows, " rows"));
  }
  const size_t count = info.GetElementCount();
  slicer.row_elements_ = count;
  if (batching) slicer.row_elements_ = rows > 0 ? count / static_cast<size_t>(rows) : 0;
  slicer.Read(value, count);
  return slicer;
}

Result<OutputSlicer> OutputSlicer::CreateScattered(const BoundTensor& tensor, int64_t elements,
                                                   const Ort::Value& value) {
  OutputSlicer slicer(tensor, true);
  const auto info = value.GetTensorTypeAndShapeInfo();
  slicer.shape_ = info.GetShape();
  const size_t count = info.GetElementCount();
  if (elements < 0 || count != static_cast<size_t>(elements)) {
    return Error::Internal(StrCat("output '", tensor.name, "' has shape ",
                                  ShapeToString(slicer.shape_),
                                  ", but the requests of the batch "
                                  "are to get ",
                                  elements, " elements"));
  }
  slicer.row_elements_ = 1;
  slicer.Read(value, count);
  return slicer;
}

void OutputSlicer::Read(const Ort::Value& value, size_t count) {
  if (tensor_.element_size > 0) {
    data_ = static_cast<const char*>(value.GetTensorRawData());
    return;
  }
  text_.resize(value.GetStringTensorDataLength());
  offsets_.resize(count);
  if (count > 0) {
    value.GetStringTensorContent(text_.data(), text_.size(), offsets_.data(), count);
  }
  offsets_.push_back(text_.size());
}

size_t OutputSlicer::ElementsBefore(int64_t row) const {
  return static_cast<size_t>(row) * row_elements_;
}

std::string_view OutputSlicer::Element(size_t index) const {
  return std::string_view(text_).substr(offsets_[index], offsets_[index + 1] - offsets_[index]);
}

Shape OutputSlicer::SliceShape(int64_t count) const {
  Shape shape = shape_;
  if (batching_) shape[0] = count;
  // Clients see a scalar as one element of one dimension.
  if (shape.empty()) shape.push_back(1);
  return shape;
}

size_t OutputSlicer::SliceSize(int64_t first, int64_t count) const {
  const size_t begin = batching_ ? ElementsBefore(first) : 0;
  const size_t end = batching_ ? ElementsBefore(first + count) : row_elements_;
  if (tensor_.element_size > 0) return (end - begin) * tensor_.element_size;
  return offsets_[end] - offsets_[begin] + (end - begin) * BytesWireSize({});
}

void OutputSlicer::CopySlice(int64_t first, int64_t count, char* destination) const {
  const size_t begin = batching_ ? ElementsBefore(first) : 0;
  const size_t end = batching_ ? ElementsBefore(first + count) : row_elements_;
  if (tensor_.element_size > 0) {
    const size_t size = (end - begin) * tensor_.element_size;
    if (size > 0) std::memcpy(destination, data_ + begin * tensor_.element_size, size);
    return;
  }
  for (size_t i = begin; i < end; ++i) destination = WriteBytes(Element(i), destination);
}

}  // namespace nereid_backend
