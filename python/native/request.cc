// SPDX-License-Identifier: Apache-2.0
#include "python/native/request.h"

#include <string>

#include "python/native/error.h"
#include "python/native/input.h"

namespace nereid_python::native {
namespace {

using Request = TRITONSERVER_InferenceRequest*;

// False with an exception, if there is an error.
bool Ok(CError error) {
  if (error != nullptr) Raise(error);
  return error == nullptr;
}

bool Number(PyObject* object, const char* what, uint64_t* number) {
  if (!PyLong_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be an int, not %s", what, TypeName(object).c_str());
    return false;
  }
  *number = PyLong_AsUnsignedLongLong(object);
  if (*number != static_cast<uint64_t>(-1) || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  RaiseInvalid(std::string(what) + " must be between 0 and 2^64 - 1");
  return false;
}

bool Text(PyObject* object, const char* what, const char** text) {
  std::string_view utf8;
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str, not %s", what, TypeName(object).c_str());
    return false;
  }
  if (!Utf8(object, &utf8)) return false;
  *text = utf8.data();
  return true;
}

bool AddParameter(Request request, PyObject* key, PyObject* value) {
  const char* name = nullptr;
  if (!Text(key, "the name of a parameter", &name)) return false;
  if (PyBool_Check(value)) {  // before int, of which bool is a kind
    return Ok(TRITONSERVER_InferenceRequestSetBoolParameter(request, name, value == Py_True));
  }
  if (PyLong_Check(value)) {
    const long long number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      RaiseInvalid(std::string("parameter '") + name + "' does not fit into 64 bits");
      return false;
    }
    return Ok(TRITONSERVER_InferenceRequestSetIntParameter(request, name, number));
  }
  if (PyFloat_Check(value)) {
    return Ok(
        TRITONSERVER_InferenceRequestSetDoubleParameter(request, name, PyFloat_AsDouble(value)));
  }
  if (PyUnicode_Check(value)) {
    const char* text = nullptr;
    return Text(value, "a parameter", &text) &&
           Ok(TRITONSERVER_InferenceRequestSetStringParameter(request, name, text));
  }
  RaiseInvalid(std::string("parameter '") + name + "' is a " + TypeName(value) +
               ": parameters are str, int, float or bool");
  return false;
}

bool AddParameters(Request request, PyObject* parameters) {
  if (parameters == Py_None) return true;
  if (!PyDict_Check(parameters)) {
    PyErr_Format(PyExc_TypeError, "parameters must be a dict, not %s",
                 TypeName(parameters).c_str());
    return false;
  }
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t place = 0;
  while (PyDict_Next(parameters, &place, &key, &value) != 0) {
    if (!AddParameter(request, key, value)) return false;
  }
  return true;
}

bool SetSequence(Request request, PyObject* id) {
  if (id == Py_None) return true;
  if (PyUnicode_Check(id)) {
    const char* text = nullptr;
    return Text(id, "sequence_id", &text) &&
           Ok(TRITONSERVER_InferenceRequestSetCorrelationIdString(request, text));
  }
  uint64_t number = 0;
  return Number(id, "sequence_id", &number) &&
         Ok(TRITONSERVER_InferenceRequestSetCorrelationId(request, number));
}

bool SetExtras(Request request, PyObject* extras) {
  if (extras == Py_None) return true;
  PyObject* id = nullptr;
  PyObject* parameters = nullptr;
  PyObject* priority = nullptr;
  PyObject* timeout = nullptr;
  PyObject* sequence = nullptr;
  PyObject* flags = nullptr;
  if (!PyArg_ParseTuple(extras, "OOOOOO", &id, &parameters, &priority, &timeout, &sequence,
                        &flags)) {
    return false;
  }
  const char* text = nullptr;
  if (id != Py_None &&
      (!Text(id, "request_id", &text) || !Ok(TRITONSERVER_InferenceRequestSetId(request, text)))) {
    return false;
  }
  uint64_t number = 0;
  if (!Number(priority, "priority", &number) ||
      !Ok(TRITONSERVER_InferenceRequestSetPriorityUInt64(request, number)) ||
      !Number(timeout, "the time-out", &number) ||
      !Ok(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, number)) ||
      !Number(flags, "flags", &number) ||
      !Ok(TRITONSERVER_InferenceRequestSetFlags(request, static_cast<uint32_t>(number)))) {
    return false;
  }
  return SetSequence(request, sequence) && AddParameters(request, parameters);
}

bool AskForOutputs(Request request, PyObject* outputs) {
  if (outputs == Py_None) return true;
  if (PyUnicode_Check(outputs)) {
    PyErr_SetString(PyExc_TypeError, "outputs must be a list of names, not one str");
    return false;
  }
  const Ref names(PySequence_Tuple(outputs));
  if (!names) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) {
    const char* name = nullptr;
    if (!Text(PyTuple_GetItem(names.get(), i), "the name of an output", &name) ||
        !Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(request, name))) {
      return false;
    }
  }
  return true;
}

bool AddInputs(Call* call, PyObject* inputs, PyObject* convert) {
  if (!PyDict_Check(inputs)) {
    PyErr_Format(PyExc_TypeError, "inputs must be a dict of tensors by name, not %s",
                 TypeName(inputs).c_str());
    return false;
  }
  // A conversion may run any code, also such that changes the dict: it has to stay as it is.
  const Ref items(PyDict_Items(inputs));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
    PyObject* const item = PyList_GetItem(items.get(), i);
    if (!AddInput(call, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1), convert)) return false;
  }
  return true;
}

}  // namespace

bool MakeRequest(Call* call, TRITONSERVER_Server* server, const RequestArguments& arguments) {
  const char* model = nullptr;
  if (!Text(arguments.model, "the name of the model", &model)) return false;
  const long long version = PyLong_AsLongLong(arguments.version);
  if (version == -1 && PyErr_Occurred() != nullptr) return false;
  return Ok(TRITONSERVER_InferenceRequestNew(call->request(), server, model, version)) &&
         AddInputs(call, arguments.inputs, arguments.convert) &&
         AskForOutputs(*call->request(), arguments.outputs) &&
         SetExtras(*call->request(), arguments.extras);
}

}  // namespace nereid_python::native
