#include "python/native/buffer_protocol.h"

#include <memory>
#include <utility>

namespace nereid_python::native {
namespace {

constexpr int kWantsFormat = 0x4;
constexpr int kWantsShape = 0x8;
constexpr int kWantsStrides = 0x10 | kWantsShape;

// One letter for each data type, in their order.
constexpr char kFormats[kDataTypes][2] = {"B", "?", "B", "H", "I", "Q", "b", "h",
                                          "i", "q", "e", "f", "d", "B", "H"};

struct Layout {
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

}  // namespace

int FillBuffer(PyObject* owner, DataType type, const std::vector<int64_t>& shape, void* data,
               uint64_t size, BufferView* view, int flags) {
  // A view without an address is taken for none.
  alignas(64) static char nothing[64];
  const bool text = type == DataType::kBytes;
  auto layout = std::make_unique<Layout>();
  const Py_ssize_t item = text ? 1 : static_cast<Py_ssize_t>(ElementSize(type));
  if (text) {
    layout->shape = {static_cast<Py_ssize_t>(size)};
  } else {
    layout->shape.assign(shape.begin(), shape.end());
  }
  layout->strides.resize(layout->shape.size());
  Py_ssize_t stride = item;
  for (size_t i = layout->shape.size(); i-- > 0;) {
    layout->strides[i] = stride;
    stride *= layout->shape[i];
  }
  *view = {};
  view->buf = data == nullptr ? nothing : data;
  Py_INCREF(owner);
  view->obj = owner;
  view->len = static_cast<Py_ssize_t>(size);
  view->itemsize = item;
  view->ndim = (flags & kWantsShape) != 0 ? static_cast<int>(layout->shape.size()) : 1;
  if ((flags & kWantsFormat) != 0) {
    view->format = const_cast<char*>(kFormats[static_cast<uint8_t>(type)]);
  }
  if ((flags & kWantsShape) != 0) view->shape = layout->shape.data();
  if ((flags & kWantsStrides) == kWantsStrides) view->strides = layout->strides.data();
  view->internal = layout.release();
  return 0;
}

void ReleaseBuffer(PyObject*, BufferView* view) { delete static_cast<Layout*>(view->internal); }

}  // namespace nereid_python::native
