// SPDX-License-Identifier: Apache-2.0
#include "python/native/response.h"

#include <memory>

#include "python/native/error.h"
#include "python/native/object.h"
#include "python/native/output_memory.h"
#include "python/native/tensor.h"

namespace nereid_python::native {
namespace {

using Response = TRITONSERVER_InferenceResponse*;

struct Delete {
  void operator()(Response response) const {
    TRITONSERVER_ErrorDelete(TRITONSERVER_InferenceResponseDelete(response));
  }
};
using OwnedResponse = std::unique_ptr<TRITONSERVER_InferenceResponse, Delete>;

// False with an exception, if there is an error.
bool Ok(CError error) {
  if (error != nullptr) Raise(error);
  return error == nullptr;
}

bool AddOutput(Response response, uint32_t index, PyObject* outputs) {
  const char* name = nullptr;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const int64_t* shape = nullptr;
  uint64_t dimensions = 0;
  const void* base = nullptr;
  size_t size = 0;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  int64_t memory_type_id = 0;
  void* userp = nullptr;
  if (!Ok(TRITONSERVER_InferenceResponseOutput(response, index, &name, &type, &shape, &dimensions,
                                               &base, &size, &memory_type, &memory_type_id,
                                               &userp))) {
    return false;
  }
  Tensor tensor;
  tensor.type = static_cast<DataType>(type);
  tensor.shape.assign(shape, shape + dimensions);
  tensor.data = static_cast<char*>(const_cast<void*>(base));
  tensor.size = size;
  tensor.keeper = TakeOutput(base, userp);
  const Ref object(NewTensor(std::move(tensor)));
  return object && PyDict_SetItemString(outputs, name, object.get()) == 0;
}

Ref ReadOutputs(Response response) {
  uint32_t count = 0;
  Ref outputs(PyDict_New());
  if (!outputs || !Ok(TRITONSERVER_InferenceResponseOutputCount(response, &count))) return Ref();
  for (uint32_t i = 0; i < count; ++i) {
    if (!AddOutput(response, i, outputs.get())) return Ref();
  }
  return outputs;
}

Ref ReadValue(TRITONSERVER_ParameterType type, const void* value) {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      return Ref(PyUnicode_FromString(static_cast<const char*>(value)));
    case TRITONSERVER_PARAMETER_INT:
      return Ref(PyLong_FromLongLong(*static_cast<const int64_t*>(value)));
    case TRITONSERVER_PARAMETER_BOOL:
      return Ref(PyBool_FromLong(*static_cast<const bool*>(value) ? 1 : 0));
    case TRITONSERVER_PARAMETER_DOUBLE:
      return Ref(PyFloat_FromDouble(*static_cast<const double*>(value)));
    case TRITONSERVER_PARAMETER_BYTES:
      break;
  }
  return Ref::Borrow(Py_None);
}

Ref ReadParameters(Response response) {
  uint32_t count = 0;
  if (!Ok(TRITONSERVER_InferenceResponseParameterCount(response, &count))) return Ref();
  if (count == 0) return Ref::Borrow(Py_None);
  Ref parameters(PyDict_New());
  for (uint32_t i = 0; parameters && i < count; ++i) {
    const char* name = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    if (!Ok(TRITONSERVER_InferenceResponseParameter(response, i, &name, &type, &value))) {
      return Ref();
    }
    const Ref object = ReadValue(type, value);
    if (!object || PyDict_SetItemString(parameters.get(), name, object.get()) != 0) return Ref();
  }
  return parameters;
}

PyObject* Tuple(Ref (&parts)[7]) {
  Ref tuple(PyTuple_New(7));
  if (!tuple) return nullptr;
  for (Py_ssize_t i = 0; i < 7; ++i) {
    if (!parts[i]) return nullptr;
    PyTuple_SetItem(tuple.get(), i, parts[i].release());
  }
  return tuple.release();
}

}  // namespace

PyObject* ReadResponse(const Call::Arrival& arrival) {
  const OwnedResponse response(arrival.response);
  Ref final(PyBool_FromLong(arrival.final ? 1 : 0));
  if (response == nullptr) {
    Ref parts[] = {Ref(None()), Ref(None()), Ref(PyLong_FromLong(-1)), Ref(None()),
                   Ref(None()), Ref(None()), std::move(final)};
    return Tuple(parts);
  }
  const char* model = nullptr;
  int64_t version = -1;
  const char* id = nullptr;
  if (!Ok(TRITONSERVER_InferenceResponseModel(response.get(), &model, &version)) ||
      !Ok(TRITONSERVER_InferenceResponseId(response.get(), &id))) {
    return nullptr;
  }
  CError failed = TRITONSERVER_InferenceResponseError(response.get());
  const bool good = failed == nullptr;
  Ref error = good ? Ref(None()) : MakeError(failed);
  if (!error) return nullptr;
  Ref outputs = good ? ReadOutputs(response.get()) : Ref(PyDict_New());
  if (!outputs) return nullptr;
  Ref parameters = ReadParameters(response.get());
  if (!parameters) return nullptr;
  Ref parts[] = {std::move(outputs),
                 Ref(PyUnicode_FromString(model)),
                 Ref(PyLong_FromLongLong(version)),
                 Ref(PyUnicode_FromString(id)),
                 std::move(parameters),
                 std::move(error),
                 std::move(final)};
  return Tuple(parts);
}

}  // namespace nereid_python::native
