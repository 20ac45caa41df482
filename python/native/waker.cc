// SPDX-License-Identifier: Apache-2.0
#include "python/native/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <utility>

#include "python/native/call.h"
#include "python/native/object.h"

namespace nereid_python::native {

std::shared_ptr<Waker> Waker::Make() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd < 0 ? nullptr : std::make_shared<Waker>(fd);
}

Waker::~Waker() {
  for (Call* call : calls_) call->Unref();
  close(fd_);
}

void Waker::Add(Call* call) {
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    first = calls_.empty();
    calls_.push_back(call);
  }
  const uint64_t one = 1;
  // Cannot fail: the counter is far from full.
  if (first) static_cast<void>(!write(fd_, &one, sizeof(one)));
}

std::vector<Call*> Waker::Take() {
  uint64_t count = 0;
  static_cast<void>(!read(fd_, &count, sizeof(count)));
  const std::lock_guard<std::mutex> lock(mu_);
  return std::exchange(calls_, {});
}

namespace {

using WakerObject = Object<std::shared_ptr<Waker>>;
PyTypeObject* waker_type = nullptr;

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  std::shared_ptr<Waker> waker = Waker::Make();
  if (waker == nullptr) return PyErr_SetFromErrno(PyExc_OSError);
  return WakerObject::New(type, std::move(waker));
}

PyObject* Fileno(PyObject* self, PyObject*) { return PyLong_FromLong(WakerObject::Of(self)->fd()); }

PyObject* Take(PyObject* self, PyObject*) {
  const std::vector<Call*> calls = WakerObject::Of(self)->Take();
  Ref futures(PyList_New(0));
  bool ok = static_cast<bool>(futures);
  for (Call* call : calls) {
    const Ref future(call->TakeFuture());
    call->Unref();
    if (ok && future) ok = PyList_Append(futures.get(), future.get()) == 0;
  }
  return ok ? futures.release() : nullptr;
}

}  // namespace

bool AddWakerType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"fileno", kSafely<Fileno>, METH_NOARGS, "The descriptor that becomes readable."},
      {"take", kSafely<Take>, METH_NOARGS, "The futures whose calls have news, each once."},
      {},
  };
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(kSafely<New>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(WakerObject::Dealloc)},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  static PyType_Spec spec = {"nereid_server._native.Waker", sizeof(WakerObject), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  waker_type = AddType(module, "Waker", &spec);
  return waker_type != nullptr;
}

std::shared_ptr<Waker> WakerOf(PyObject* object) {
  if (Py_TYPE(object) == waker_type) return WakerObject::Of(object);
  PyErr_SetString(PyExc_TypeError, "the waker must be a Waker");
  return nullptr;
}

}  // namespace nereid_python::native
