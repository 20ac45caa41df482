// SPDX-License-Identifier: Apache-2.0
#include "python/native/error.h"

namespace nereid_python::native {
namespace {

PyObject* types = nullptr;  // a tuple; set when the package is imported, and kept for ever

Ref TypeOf(TRITONSERVER_Error_Code code) {
  const Py_ssize_t count = types == nullptr ? 0 : PyTuple_Size(types);
  const auto index = static_cast<Py_ssize_t>(code);
  if (index < 0 || index >= count) return Ref::Borrow(PyExc_RuntimeError);
  return Ref::Borrow(PyTuple_GetItem(types, index));
}

Ref Message(std::string_view text) {
  return Ref(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

}  // namespace

bool SetErrorTypes(PyObject* given) {
  if (!PyTuple_Check(given)) {
    PyErr_SetString(PyExc_TypeError, "the types of errors must be a tuple");
    return false;
  }
  Py_INCREF(given);
  types = given;
  return true;
}

PyObject* Raise(TRITONSERVER_Error_Code code, const std::string& text) {
  const Ref type = TypeOf(code);
  const Ref message = Message(text);
  if (message) PyErr_SetObject(type.get(), message.get());
  return nullptr;
}

PyObject* Raise(CError error) {
  const std::string text = TRITONSERVER_ErrorMessage(error);
  const TRITONSERVER_Error_Code code = TRITONSERVER_ErrorCode(error);
  TRITONSERVER_ErrorDelete(error);
  return Raise(code, text);
}

Ref MakeError(CError error) {
  const Ref type = TypeOf(TRITONSERVER_ErrorCode(error));
  const Ref message = Message(TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
  if (!message) return Ref();
  return Ref(PyObject_CallFunctionObjArgs(type.get(), message.get(), nullptr));
}

std::string TypeName(PyObject* object) {
  const Ref name(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__qualname__"));
  std::string_view text;
  if (!name || !Utf8(name.get(), &text)) {
    PyErr_Clear();
    return "object";
  }
  return std::string(text);
}

}  // namespace nereid_python::native
