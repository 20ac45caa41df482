// SPDX-License-Identifier: Apache-2.0
// The module nereid_server._native: a server in the process of a Python program, by the C API.
#include "python/native/call.h"
#include "python/native/error.h"
#include "python/native/frontends.h"
#include "python/native/input.h"
#include "python/native/life.h"
#include "python/native/metrics.h"
#include "python/native/object.h"
#include "python/native/server.h"
#include "python/native/tensor.h"
#include "python/native/waker.h"

namespace nereid_python::native {
namespace {

PyObject* SetErrors(PyObject*, PyObject* types) { return SetErrorTypes(types) ? None() : nullptr; }

PyObject* AsTensor(PyObject*, PyObject* value) { return TensorFrom(value); }

PyObject* Folder(PyObject*, PyObject*) { return PyUnicode_FromString(LibraryFolder().c_str()); }

PyObject* PortOptions(PyObject*, PyObject*) {
  const char* names = "";
  return Run([&] { return FrontendOptions(&names); }) ? PyUnicode_FromString(names) : nullptr;
}

PyObject* Log(PyObject*, PyObject* args) {
  int level = 0;
  const char* file = nullptr;
  int line = 0;
  const char* message = nullptr;
  if (!PyArg_ParseTuple(args, "isis:log", &level, &file, &line, &message)) return nullptr;
  const auto kind = static_cast<TRITONSERVER_LogLevel>(level);
  return Run([&] { return TRITONSERVER_LogMessage(kind, file, line, message); }) ? None() : nullptr;
}

// end(clean): without `clean`, threads of a server go on running, so nothing may be destroyed.
PyObject* End(PyObject*, PyObject* clean) {
  DropLeft();
  BeginEnd();
  if (clean != Py_True) EndWithoutDestructors();
  return None();
}

PyObject* GetGeneration(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(Generation()); }

PyMethodDef methods[] = {
    {"set_errors", kSafely<SetErrors>, METH_O, "set_errors(types): exception classes by code."},
    {"as_tensor", kSafely<AsTensor>, METH_O, "A Tensor in the memory of an array or of DLPack."},
    {"library_folder", kSafely<Folder>, METH_NOARGS, "The folder of libtritonserver.so."},
    {"port_options", kSafely<PortOptions>, METH_NOARGS,
     "Names of the options of open_ports, one a line."},
    {"log", kSafely<Log>, METH_VARARGS, "log(level, file, line, message)"},
    {"end", kSafely<End>, METH_O,
     "end(clean): the interpreter ends; if not clean, while a server runs."},
    {"generation", kSafely<GetGeneration>, METH_NOARGS,
     "How often this process's ancestors forked."},
    {},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "nereid_server._native", "A server in this process.", -1, methods,
};

// Null with an exception.
PyObject* MakeModule() {
  CountForks();
  Ref module(PyModule_Create(&definition));
  if (!module || !AddTensorType(module.get()) || !AddWakerType(module.get()) ||
      !AddCallType(module.get()) || !AddServerType(module.get()) || !AddMetricTypes(module.get())) {
    return nullptr;
  }
  return module.release();
}

}  // namespace
}  // namespace nereid_python::native

PyMODINIT_FUNC PyInit__native() { return nereid_python::native::MakeModule(); }
