// SPDX-License-Identifier: Apache-2.0
// A Python object that holds a C++ value, under the limited API. Guarded by the GIL.
#ifndef NEREID_PYTHON_NATIVE_OBJECT_H_
#define NEREID_PYTHON_NATIVE_OBJECT_H_

#include <exception>
#include <new>
#include <utility>

#include "backends/sdk/python/python_api.h"

// Part of the limited API since 3.10, and unchanged since 3.7.
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

namespace nereid_python::native {

template <typename T>
struct Object {
  PyObject_HEAD T value;

  static T& Of(PyObject* self) { return reinterpret_cast<Object*>(self)->value; }
  // A new object of `type`. Null with an exception.
  static PyObject* New(PyTypeObject* type, T value) {
    const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    PyObject* self = allocate(type, 0);
    if (self != nullptr) new (&Of(self)) T(std::move(value));
    return self;
  }
  static void Dealloc(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    Of(self).~T();
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
  }
};

// Makes a type and adds it to the module. Null with an exception.
inline PyTypeObject* AddType(PyObject* module, const char* name, PyType_Spec* spec) {
  auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(spec));
  if (type == nullptr) return nullptr;
  return PyObject_SetAttrString(module, name, reinterpret_cast<PyObject*>(type)) == 0 ? type
                                                                                      : nullptr;
}

// `Function`, with the exceptions that the standard library throws when memory is exhausted turned
// into Python's: none may leave a function that Python calls.
template <auto Function>
struct Safely;
template <typename... Arguments, PyObject* (*Function)(Arguments...)>
struct Safely<Function> {
  static PyObject* Call(Arguments... arguments) {
    try {
      return Function(arguments...);
    } catch (const std::exception& e) {
      PyErr_SetString(PyExc_MemoryError, e.what());
      return nullptr;
    }
  }
};
template <auto Function>
constexpr auto kSafely = &Safely<Function>::Call;

template <typename Function>
PyCFunction AsMethod(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

inline PyObject* None() {
  Py_INCREF(Py_None);
  return Py_None;
}

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_OBJECT_H_
