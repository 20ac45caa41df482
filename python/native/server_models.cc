// SPDX-License-Identifier: Apache-2.0
// Model management: methods that load and unload models, and choose where they come from.
#include <memory>
#include <vector>

#include "python/native/object.h"
#include "python/native/server.h"

namespace nereid_python::native {
namespace {

struct Delete {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};
using Parameter = std::unique_ptr<TRITONSERVER_Parameter, Delete>;

// Null with an exception.
Parameter MakeParameter(PyObject* key, PyObject* value) {
  std::string_view name;
  if (!Utf8(key, &name)) return nullptr;
  if (PyBytes_Check(value)) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(value, &data, &size) != 0) return nullptr;
    return Parameter(
        TRITONSERVER_ParameterBytesNew(name.data(), data, static_cast<uint64_t>(size)));
  }
  if (PyBool_Check(value)) {
    const bool flag = value == Py_True;
    return Parameter(TRITONSERVER_ParameterNew(name.data(), TRITONSERVER_PARAMETER_BOOL, &flag));
  }
  if (PyLong_Check(value)) {
    const int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) return nullptr;
    return Parameter(TRITONSERVER_ParameterNew(name.data(), TRITONSERVER_PARAMETER_INT, &number));
  }
  if (PyUnicode_Check(value)) {
    std::string_view text;
    if (!Utf8(value, &text)) return nullptr;
    return Parameter(
        TRITONSERVER_ParameterNew(name.data(), TRITONSERVER_PARAMETER_STRING, text.data()));
  }
  RaiseInvalid("parameter '" + std::string(name) + "' is a " + TypeName(value) +
               ": it must be a str, bytes, int or bool");
  return nullptr;
}

// The parameters of a dict, which has to outlive them.
class Parameters {
 public:
  // False with an exception.
  bool Read(PyObject* dict) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t place = 0;
    while (PyDict_Next(dict, &place, &key, &value) != 0) {
      owned_.push_back(MakeParameter(key, value));
      if (owned_.back() == nullptr) {
        if (PyErr_Occurred() == nullptr) PyErr_NoMemory();
        return false;
      }
      all_.push_back(owned_.back().get());
    }
    return true;
  }
  const TRITONSERVER_Parameter** data() { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<Parameter> owned_;
  std::vector<const TRITONSERVER_Parameter*> all_;
};

PyObject* Load(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  PyObject* given = nullptr;
  Parameters parameters;
  const ServerRef server = ServerOf(self);
  if (server == nullptr || !PyArg_ParseTuple(args, "sO!:load", &name, &PyDict_Type, &given) ||
      !parameters.Read(given)) {
    return nullptr;
  }
  const bool loaded = Run([&] {
    if (parameters.size() == 0) return TRITONSERVER_ServerLoadModel(server->get(), name);
    return TRITONSERVER_ServerLoadModelWithParameters(server->get(), name, parameters.data(),
                                                      parameters.size());
  });
  return loaded ? None() : nullptr;
}

PyObject* Unload(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  int dependents = 0;
  const ServerRef server = ServerOf(self);
  if (server == nullptr || !PyArg_ParseTuple(args, "sp:unload", &name, &dependents)) {
    return nullptr;
  }
  const bool begun = Run([&] {
    return dependents != 0 ? TRITONSERVER_ServerUnloadModelAndDependents(server->get(), name)
                           : TRITONSERVER_ServerUnloadModel(server->get(), name);
  });
  return begun ? None() : nullptr;
}

PyObject* Register(PyObject* self, PyObject* args) {
  const char* path = nullptr;
  PyObject* names = nullptr;
  Parameters mapping;
  const ServerRef server = ServerOf(self);
  if (server == nullptr ||
      !PyArg_ParseTuple(args, "sO!:register_repository", &path, &PyDict_Type, &names) ||
      !mapping.Read(names)) {
    return nullptr;
  }
  const bool added = Run([&] {
    return TRITONSERVER_ServerRegisterModelRepository(server->get(), path, mapping.data(),
                                                      static_cast<uint32_t>(mapping.size()));
  });
  return added ? None() : nullptr;
}

PyObject* Unregister(PyObject* self, PyObject* args) {
  const char* path = nullptr;
  const ServerRef server = ServerOf(self);
  if (server == nullptr || !PyArg_ParseTuple(args, "s:unregister_repository", &path)) {
    return nullptr;
  }
  const bool removed =
      Run([&] { return TRITONSERVER_ServerUnregisterModelRepository(server->get(), path); });
  return removed ? None() : nullptr;
}

PyObject* Poll(PyObject* self, PyObject*) {
  const ServerRef server = ServerOf(self);
  if (server == nullptr) return nullptr;
  const bool polled = Run([&] { return TRITONSERVER_ServerPollModelRepository(server->get()); });
  return polled ? None() : nullptr;
}

}  // namespace

PyMethodDef management_methods[] = {
    {"load", kSafely<Load>, METH_VARARGS, "load(name, parameters)"},
    {"unload", kSafely<Unload>, METH_VARARGS, "unload(name, dependents)"},
    {"register_repository", kSafely<Register>, METH_VARARGS, "register_repository(path, names)"},
    {"unregister_repository", kSafely<Unregister>, METH_VARARGS, "unregister_repository(path)"},
    {"poll", kSafely<Poll>, METH_NOARGS, "Looks for changes in the repositories."},
    {},
};

}  // namespace nereid_python::native
