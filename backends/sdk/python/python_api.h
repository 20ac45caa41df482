// SPDX-License-Identifier: Apache-2.0
// Python's limited API, as of 3.9: one build serves every later version. Also the helpers that make
// it safe to use from C++: Ref, which owns a reference, WithoutGil and WithGil.
#ifndef NEREID_BACKENDS_SDK_PYTHON_PYTHON_API_H_
#define NEREID_BACKENDS_SDK_PYTHON_PYTHON_API_H_

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef Py_GIL_DISABLED
#error "the state of this module is guarded by the GIL: it needs a Python that has one"
#endif

#include <memory>
#include <string_view>
#include <utility>

// Part of the limited API since 3.10; 3.9 exports it, too. The text lives as long as the object.
extern "C" PyAPI_FUNC(const char*) PyUnicode_AsUTF8AndSize(PyObject* unicode, Py_ssize_t* size);

namespace nereid_python {

// An owned reference, or none. REQUIRES the GIL for all changes.
class Ref {
 public:
  Ref() = default;
  // Takes over a reference that the caller owns; null stays null.
  explicit Ref(PyObject* owned) : object_(owned) {}
  static Ref Borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Keeps a range of memory alive. The last copy is destroyed with the GIL held.
using Keeper = std::shared_ptr<void>;
inline Keeper KeepObject(PyObject* object) {
  Py_INCREF(object);
  return Keeper(object, [](void* kept) { Py_DECREF(static_cast<PyObject*>(kept)); });
}

// Releases the GIL during its lifetime, so that other Python threads run.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* const state_;
};

// Takes the GIL, for calls from outside of Python on any thread.
class WithGil {
 public:
  WithGil() : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  const PyGILState_STATE state_;
};

// The UTF-8 of a str, valid as long as the object; false with an exception if it is not a str or
// has no UTF-8 form.
inline bool Utf8(PyObject* text, std::string_view* utf8) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) return false;
  *utf8 = std::string_view(data, static_cast<size_t>(size));
  return true;
}

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_SDK_PYTHON_PYTHON_API_H_
