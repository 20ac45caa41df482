// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/pack.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/python/ipc/value.h"
#include "backends/python/worker/tensor.h"

namespace nereid_python::worker {
namespace {

// For fewer bytes, releasing and taking the GIL costs more than the copy.
constexpr uint64_t kManyBytes = uint64_t{128} << 10;
constexpr int kMostDepth = 32;

constexpr uint64_t AlignUp(uint64_t offset) {
  return (offset + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

nereid_python::Tensor::File FileOf(const Tensor& tensor, bool in_file) {
  if (tensor.placed) return nereid_python::Tensor::kPlace;
  return in_file ? nereid_python::Tensor::kIn : nereid_python::Tensor::kOut;
}

class Packer {
 public:
  explicit Packer(Transport* transport) : transport_(transport) {}

  bool Value(PyObject* value, int depth = 0);
  bool Finish(OutMessage* message);

 private:
  // A tensor whose bytes are copied to the space after the message.
  struct Copy {
    size_t place;     // position in bytes_ of its block and offset
    uint64_t offset;  // from the end of the message
    const char* data;
    uint64_t size;
    Keeper keeper;
  };

  void Raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  template <typename T>
  void Number(T value) {
    Raw(&value, sizeof(value));
  }
  void Put(Tag tag) { bytes_.push_back(static_cast<char>(tag)); }
  bool Count(Tag tag, Py_ssize_t count);
  bool Integer(PyObject* value);
  bool Text(PyObject* value);
  bool Bytes(PyObject* value);
  bool List(PyObject* value, int depth);
  bool TupleItems(PyObject* value, int depth);
  bool Map(PyObject* value, int depth);
  bool PutTensor(PyObject* object, const Tensor& tensor);

  Transport* const transport_;
  std::string bytes_;
  std::vector<Copy> copies_;
  std::vector<Keeper> keepers_;
  uint64_t copied_bytes_ = 0;
  uint64_t largest_kept_ = 0;
};

bool Packer::Value(PyObject* value, int depth) {
  if (depth > kMostDepth) {
    PyErr_SetString(PyExc_ValueError, "a value for the server is nested too deeply");
    return false;
  }
  if (value == Py_None) return Put(Tag::kNone), true;
  if (value == Py_True) return Put(Tag::kTrue), true;
  if (value == Py_False) return Put(Tag::kFalse), true;
  if (PyTuple_Check(value)) return TupleItems(value, depth);
  if (const Tensor* tensor = TensorOf(value)) return PutTensor(value, *tensor);
  if (PyLong_Check(value)) return Integer(value);
  if (PyUnicode_Check(value)) return Text(value);
  if (PyList_Check(value)) return List(value, depth);
  if (PyDict_Check(value)) return Map(value, depth);
  if (PyBytes_Check(value)) return Bytes(value);
  if (PyFloat_Check(value)) {
    Put(Tag::kDouble);
    Number(PyFloat_AsDouble(value));
    return true;
  }
  PyErr_Format(PyExc_TypeError, "the server cannot be given an object of %R",
               reinterpret_cast<PyObject*>(Py_TYPE(value)));
  return false;
}

bool Packer::Count(Tag tag, Py_ssize_t count) {
  if (count < 0) return false;
  if (count > std::numeric_limits<int32_t>::max()) {
    PyErr_SetString(PyExc_OverflowError, "a value for the server is too long");
    return false;
  }
  Put(tag);
  Number(static_cast<uint32_t>(count));
  return true;
}

bool Packer::Integer(PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) {
    if (number == -1 && PyErr_Occurred() != nullptr) return false;
    Put(Tag::kInt);
    Number(static_cast<int64_t>(number));
    return true;
  }
  const unsigned long long large = PyLong_AsUnsignedLongLong(value);  // or an OverflowError
  if (PyErr_Occurred() != nullptr) return false;
  Put(Tag::kUint);
  Number(static_cast<uint64_t>(large));
  return true;
}

bool Packer::Text(PyObject* value) {
  std::string_view text;
  Ref escaped;
  if (!Utf8(value, &text)) {
    // A str with lone surrogates (from a path, for instance) is escaped, so that the text of an
    // error is not lost.
    PyErr_Clear();
    escaped = Ref(PyUnicode_AsEncodedString(value, "utf-8", "backslashreplace"));
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (!escaped || PyBytes_AsStringAndSize(escaped.get(), &data, &size) != 0) return false;
    text = std::string_view(data, static_cast<size_t>(size));
  }
  if (!Count(Tag::kText, static_cast<Py_ssize_t>(text.size()))) return false;
  bytes_.append(text);
  return true;
}

bool Packer::Bytes(PyObject* value) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value, &data, &size) != 0) return false;
  Put(Tag::kBytes);
  Number(static_cast<uint64_t>(size));
  Raw(data, static_cast<size_t>(size));
  return true;
}

bool Packer::TupleItems(PyObject* value, int depth) {
  const Py_ssize_t count = PyTuple_Size(value);
  if (!Count(Tag::kList, count)) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!Value(PyTuple_GetItem(value, i), depth + 1)) return false;
  }
  return true;
}

bool Packer::List(PyObject* value, int depth) {
  const Py_ssize_t count = PyList_Size(value);
  if (!Count(Tag::kList, count)) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GetItem(value, i);
    if (item == nullptr || !Value(item, depth + 1)) return false;
  }
  return true;
}

bool Packer::Map(PyObject* value, int depth) {
  if (!Count(Tag::kMap, PyDict_Size(value))) return false;
  Py_ssize_t position = 0;
  PyObject* key = nullptr;
  PyObject* item = nullptr;
  while (PyDict_Next(value, &position, &key, &item) != 0) {
    if (!Value(key, depth + 1) || !Value(item, depth + 1)) return false;
  }
  return true;
}

bool Packer::PutTensor(PyObject* object, const Tensor& tensor) {
  std::string_view name;
  if (!Utf8(tensor.name.get(), &name)) return false;
  const uint64_t in_offset = static_cast<uint64_t>(tensor.data - transport_->in_data());
  uint64_t block = 0;
  const bool in_file = !tensor.placed && tensor.size > 0 && in_offset < kMaxData &&
                       transport_->in_blocks()->Find(in_offset, tensor.size, &block);
  Put(Tag::kTensor);
  Number(static_cast<uint8_t>(tensor.type));
  Number(static_cast<uint8_t>(FileOf(tensor, in_file)));
  Number(static_cast<uint8_t>(tensor.shape.size()));
  Number(static_cast<uint32_t>(name.size()));
  bytes_.append(name);
  for (const int64_t dim : tensor.shape) Number(dim);
  const size_t place = bytes_.size();
  Number(block);
  Number(in_file ? in_offset : uint64_t{0});
  Number(tensor.size);
  if (in_file) {
    // Only the block is kept, and not the object, so that IsSoleOwner can tell whether there are
    // other views.
    keepers_.push_back(transport_->in_blocks()->Keep(block, in_offset + tensor.size));
    largest_kept_ = std::max(largest_kept_, tensor.size);
  } else if (tensor.size > 0 && !tensor.placed) {
    copies_.push_back({place, copied_bytes_, tensor.data, tensor.size, KeepObject(object)});
    copied_bytes_ += AlignUp(tensor.size);
  }
  return true;
}

bool Packer::Finish(OutMessage* message) {
  const uint64_t behind = AlignUp(bytes_.size());
  const uint64_t needed = behind + copied_bytes_;
  const std::optional<uint64_t> block = transport_->out_blocks()->Allocate(needed);
  if (!block.has_value()) {
    PyErr_Format(PyExc_MemoryError, "there is no memory for a message of %llu bytes to the server",
                 static_cast<unsigned long long>(needed));
    return false;
  }
  *message = OutMessage(transport_->out_blocks(), *block, bytes_.size(), needed,
                        std::move(keepers_), largest_kept_);
  for (const Copy& copy : copies_) {
    const uint64_t where[2] = {*block, *block + behind + copy.offset};
    std::memcpy(bytes_.data() + copy.place, where, sizeof(where));
  }
  std::optional<WithoutGil> released;
  if (copied_bytes_ > kManyBytes) released.emplace();
  char* const target = transport_->out_data() + *block;
  std::memcpy(target, bytes_.data(), bytes_.size());
  for (const Copy& copy : copies_) std::memcpy(target + behind + copy.offset, copy.data, copy.size);
  return true;
}

}  // namespace

bool Pack(Transport* transport, PyObject* value, OutMessage* message) {
  Packer packer(transport);
  return packer.Value(value) && packer.Finish(message);
}

}  // namespace nereid_python::worker
