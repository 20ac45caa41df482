// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/python/strings.h"

#include <cstring>
#include <limits>
#include <string_view>

namespace nereid_python {
namespace {

uint64_t Count(const ArrayInterface& array) {
  uint64_t count = 1;
  for (int i = 0; i < array.dimensions; ++i) count *= static_cast<uint64_t>(array.shape[i]);
  return count;
}

bool Append(std::string_view element, std::string* bytes) {
  if (element.size() > std::numeric_limits<uint32_t>::max()) {
    PyErr_SetString(PyExc_OverflowError, "an element of a string tensor is larger than 4 GiB");
    return false;
  }
  const auto size = static_cast<uint32_t>(element.size());
  bytes->append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes->append(element);
  return true;
}

bool AppendObject(PyObject* object, std::string* bytes) {
  if (PyBytes_Check(object)) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return false;
    return Append({data, static_cast<size_t>(size)}, bytes);
  }
  const Ref text(PyObject_Str(object));
  std::string_view utf8;
  return text && Utf8(text.get(), &utf8) && Append(utf8, bytes);
}

// Moves the next element from the front of `left` to `element`. False if `left` does not contain
// one.
bool TakeElement(std::string_view* left, std::string_view* element) {
  uint32_t size = 0;
  if (left->size() < sizeof(size)) return false;
  std::memcpy(&size, left->data(), sizeof(size));
  left->remove_prefix(sizeof(size));
  if (left->size() < size) return false;
  *element = left->substr(0, size);
  left->remove_prefix(size);
  return true;
}

}  // namespace

bool SerializeStrings(const ArrayInterface& array, std::string* bytes) {
  const uint64_t count = Count(array);
  const auto item = static_cast<size_t>(array.element_size);
  for (uint64_t i = 0; i < count; ++i) {
    const char* place = static_cast<const char*>(array.data) + i * item;
    if (array.kind == 'S') {
      const std::string_view padded(place, item);
      const size_t last = padded.find_last_not_of('\0');
      if (!Append(padded.substr(0, last == padded.npos ? 0 : last + 1), bytes)) return false;
      continue;
    }
    PyObject* stored = nullptr;
    std::memcpy(&stored, place, sizeof(void*));
    // numpy stores None as a null pointer. str() may run any code, so a reference keeps the
    // element.
    const Ref element = Ref::Borrow(stored == nullptr ? Py_None : stored);
    if (!AppendObject(element.get(), bytes)) return false;
  }
  return true;
}

Ref DecodeStrings(const std::vector<int64_t>& shape, std::string_view bytes, const char** why) {
  Ref array = EmptyObjectArray(shape);
  if (!array) return Ref();
  const Ref capsule = ArrayCapsule(array.get());
  const ArrayInterface* inside = capsule ? ArrayOf(capsule) : nullptr;
  if (inside == nullptr) return Ref();
  auto** places = static_cast<PyObject**>(inside->data);
  const uint64_t count = Count(*inside);
  std::string_view left = bytes;
  std::string_view element;
  for (uint64_t i = 0; i < count; ++i) {
    if (!TakeElement(&left, &element)) {
      *why = "The strings of the tensor are incomplete.";
      return Ref();
    }
    PyObject* text =
        PyBytes_FromStringAndSize(element.data(), static_cast<Py_ssize_t>(element.size()));
    if (text == nullptr) return Ref();
    Py_XDECREF(std::exchange(places[i], text));
  }
  if (!left.empty()) {
    *why = "The tensor holds more strings than its shape says.";
    return Ref();
  }
  return array;
}

}  // namespace nereid_python
