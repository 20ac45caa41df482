// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/pack.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/python/ipc/value.h"
#include "backends/python/worker/tensor.h"

namespace nereid_python::worker {
namespace {

constexpr int kMostDepth = 32;

// Methods that return a reference return none, with an exception, if the bytes are not of the
// expected form.
class Unpacker {
 public:
  Unpacker(Transport* transport, std::string_view bytes) : transport_(transport), bytes_(bytes) {}

  Ref Value(int depth = 0);
  bool AtEnd() const { return bytes_.empty(); }

  static Ref Malformed() {
    PyErr_SetString(PyExc_ValueError, "a message of the server is malformed");
    return Ref();
  }

 private:
  template <typename T>
  bool Number(T* value) {
    std::string_view raw;
    if (!Take(sizeof(*value), &raw)) return false;
    std::memcpy(value, raw.data(), sizeof(*value));
    return true;
  }
  bool Take(uint64_t size, std::string_view* taken) {
    if (size > bytes_.size()) return false;
    *taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  // Reads a number of items that take at least `bytes_each` bytes each.
  bool Count(uint64_t bytes_each, uint32_t* count) {
    return Number(count) && *count <= bytes_.size() / bytes_each;
  }
  template <typename T, typename Wide>
  Ref FromNumber(PyObject* (*make)(Wide)) {
    T value{};
    return Number(&value) ? Ref(make(value)) : Malformed();
  }
  Ref Text();
  Ref Bytes();
  Ref List(int depth);
  Ref Map(int depth);
  Ref ReadTensor();
  // Sets an exception only if the tensor is not malformed.
  bool TensorMemory(nereid_python::Tensor::File file, Tensor* tensor);
  bool ClientMemory(nereid_python::Tensor::File file, uint64_t number, uint64_t offset,
                    Tensor* tensor);

  Transport* const transport_;
  std::string_view bytes_;
};

Ref Unpacker::Value(int depth) {
  char tag = 0;
  if (depth > kMostDepth || !Number(&tag)) return Malformed();
  switch (static_cast<Tag>(tag)) {
    case Tag::kNone:
      return Ref::Borrow(Py_None);
    case Tag::kTrue:
      return Ref::Borrow(Py_True);
    case Tag::kFalse:
      return Ref::Borrow(Py_False);
    case Tag::kInt:
      return FromNumber<int64_t>(PyLong_FromLongLong);
    case Tag::kUint:
      return FromNumber<uint64_t>(PyLong_FromUnsignedLongLong);
    case Tag::kDouble:
      return FromNumber<double>(PyFloat_FromDouble);
    case Tag::kText:
      return Text();
    case Tag::kBytes:
      return Bytes();
    case Tag::kList:
      return List(depth);
    case Tag::kMap:
      return Map(depth);
    case Tag::kTensor:
      return ReadTensor();
  }
  return Malformed();
}

Ref Unpacker::Text() {
  uint32_t size = 0;
  std::string_view text;
  if (!Number(&size) || !Take(size, &text)) return Malformed();
  // Clients may use any bytes in names and ids.
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(size), "replace"));
}

Ref Unpacker::Bytes() {
  uint64_t size = 0;
  std::string_view bytes;
  if (!Number(&size) || !Take(size, &bytes)) return Malformed();
  return Ref(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(size)));
}

Ref Unpacker::List(int depth) {
  uint32_t count = 0;
  if (!Count(1, &count)) return Malformed();
  Ref items(PyTuple_New(count));
  if (!items) return items;
  for (uint32_t i = 0; i < count; ++i) {
    Ref item = Value(depth + 1);
    if (!item) return item;
    PyTuple_SetItem(items.get(), i, item.release());
  }
  return items;
}

Ref Unpacker::Map(int depth) {
  uint32_t count = 0;
  if (!Count(2, &count)) return Malformed();
  Ref map(PyDict_New());
  if (!map) return map;
  for (uint32_t i = 0; i < count; ++i) {
    const Ref key = Value(depth + 1);
    if (!key) return Ref();
    const Ref value = Value(depth + 1);
    if (!value || PyDict_SetItem(map.get(), key.get(), value.get()) != 0) return Ref();
  }
  return map;
}

Ref Unpacker::ReadTensor() {
  Tensor tensor;
  uint8_t type = 0;
  uint8_t file = 0;
  uint8_t dims = 0;
  if (!Number(&type) || !Number(&file) || !Number(&dims)) return Malformed();
  if (type == 0 || type >= kDataTypes) return Malformed();
  tensor.type = DataType{type};
  tensor.name = Text();
  if (!tensor.name) return Ref();
  if (dims > bytes_.size() / sizeof(int64_t)) return Malformed();
  tensor.shape.resize(dims);
  for (int64_t& dim : tensor.shape) Number(&dim);
  if (!TensorMemory(nereid_python::Tensor::File{file}, &tensor)) {
    return PyErr_Occurred() != nullptr ? Ref() : Malformed();
  }
  return Ref(NewTensor(std::move(tensor)));
}

bool Unpacker::TensorMemory(nereid_python::Tensor::File file, Tensor* tensor) {
  uint64_t block = 0;
  uint64_t offset = 0;
  uint64_t count = 0;
  std::string_view memory;
  if (!Number(&block) || !Number(&offset) || !Number(&tensor->size)) return false;
  if (!ElementCount(tensor->shape, &count)) return false;
  // The number of strings is checked when they are decoded.
  const uint32_t element = ElementSize(tensor->type);
  if (element > 0 && tensor->size != count * element) return false;
  if (tensor->size == 0) return true;
  if (file != nereid_python::Tensor::kIn) return ClientMemory(file, block, offset, tensor);
  if (block > offset || !transport_->InBytes(offset, tensor->size, &memory)) return false;
  tensor->data = transport_->in_data() + offset;
  tensor->keeper = transport_->in_blocks()->Keep(block, offset + tensor->size);
  return true;
}

// Without descriptors for the files of clients, inputs have to be copies from now on. A place that
// cannot be mapped is not used.
bool Unpacker::ClientMemory(nereid_python::Tensor::File file, uint64_t number, uint64_t offset,
                            Tensor* tensor) {
  ClientFiles* const files = transport_->client_files();
  if (file == nereid_python::Tensor::kPlace) {
    tensor->data = files->Place(number, offset, tensor->size, &tensor->keeper, &tensor->cold);
    return true;
  }
  if (file != nereid_python::Tensor::kClient) return false;
  tensor->data = files->Input(number, offset, tensor->size, &tensor->keeper);
  if (tensor->data != nullptr) return true;
  transport_->control()->maps_inputs.store(0, std::memory_order_relaxed);
  PyErr_SetFromErrno(PyExc_OSError);
  return false;
}

}  // namespace

PyObject* Unpack(Transport* transport, std::string_view message) {
  Unpacker unpacker(transport, message);
  Ref value = unpacker.Value();
  if (value && !unpacker.AtEnd()) value = Unpacker::Malformed();
  return value.release();
}

}  // namespace nereid_python::worker
