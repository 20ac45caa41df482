// SPDX-License-Identifier: Apache-2.0
// Reports: methods that tell what the server and its models are and do. Texts are JSON.
#include "python/native/object.h"
#include "python/native/server.h"

namespace nereid_python::native {
namespace {

// The text of a message, which is deleted. Null with an exception.
PyObject* TextOf(TRITONSERVER_Message* message) {
  const char* base = nullptr;
  size_t size = 0;
  CError error = TRITONSERVER_MessageSerializeToJson(message, &base, &size);
  PyObject* text = error == nullptr
                       ? PyUnicode_DecodeUTF8(base, static_cast<Py_ssize_t>(size), "replace")
                       : Raise(error);
  TRITONSERVER_ErrorDelete(TRITONSERVER_MessageDelete(message));
  return text;
}

// Asks a server that `self` is for a message.
template <typename Ask>
PyObject* Report(PyObject* self, const Ask& ask) {
  const ServerRef server = ServerOf(self);
  TRITONSERVER_Message* message = nullptr;
  if (server == nullptr || !Run([&] { return ask(server->get(), &message); })) return nullptr;
  return TextOf(message);
}

// A model's name and version, from a method's arguments.
struct Model {
  const char* name = nullptr;
  long long version = -1;
  bool Read(PyObject* args) { return PyArg_ParseTuple(args, "sL", &name, &version) != 0; }
};

template <typename Ask>
PyObject* Flag(PyObject* self, const Ask& ask) {
  const ServerRef server = ServerOf(self);
  bool value = false;
  if (server == nullptr || !Run([&] { return ask(server->get(), &value); })) return nullptr;
  return PyBool_FromLong(value ? 1 : 0);
}

PyObject* Live(PyObject* self, PyObject*) { return Flag(self, TRITONSERVER_ServerIsLive); }
PyObject* Ready(PyObject* self, PyObject*) { return Flag(self, TRITONSERVER_ServerIsReady); }

PyObject* ModelReady(PyObject* self, PyObject* args) {
  Model model;
  if (!model.Read(args)) return nullptr;
  return Flag(self, [&](TRITONSERVER_Server* server, bool* ready) {
    return TRITONSERVER_ServerModelIsReady(server, model.name, model.version, ready);
  });
}

PyObject* Metadata(PyObject* self, PyObject*) { return Report(self, TRITONSERVER_ServerMetadata); }

PyObject* ModelMetadata(PyObject* self, PyObject* args) {
  Model model;
  if (!model.Read(args)) return nullptr;
  return Report(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelMetadata(server, model.name, model.version, message);
  });
}

PyObject* ModelStatistics(PyObject* self, PyObject* args) {
  Model model;
  if (!model.Read(args)) return nullptr;
  return Report(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelStatistics(server, model.name, model.version, message);
  });
}

PyObject* ModelConfig(PyObject* self, PyObject* args) {
  Model model;
  unsigned int format = 1;
  if (!PyArg_ParseTuple(args, "sLI", &model.name, &model.version, &format)) return nullptr;
  return Report(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    return TRITONSERVER_ServerModelConfig(server, model.name, model.version, format, message);
  });
}

PyObject* Index(PyObject* self, PyObject* args) {
  int ready_only = 0;
  if (!PyArg_ParseTuple(args, "p", &ready_only)) return nullptr;
  return Report(self, [&](TRITONSERVER_Server* server, TRITONSERVER_Message** message) {
    const uint32_t flags = ready_only != 0 ? TRITONSERVER_INDEX_FLAG_READY : 0;
    return TRITONSERVER_ServerModelIndex(server, flags, message);
  });
}

template <typename Ask>
PyObject* Properties(PyObject* self, PyObject* args, const Ask& ask) {
  Model model;
  const ServerRef server = ServerOf(self);
  uint32_t flags = 0;
  if (server == nullptr || !model.Read(args) ||
      !Run([&] { return ask(server->get(), model.name, model.version, &flags, nullptr); })) {
    return nullptr;
  }
  return PyLong_FromUnsignedLong(flags);
}

PyObject* BatchProperties(PyObject* self, PyObject* args) {
  return Properties(self, args, TRITONSERVER_ServerModelBatchProperties);
}

PyObject* TransactionProperties(PyObject* self, PyObject* args) {
  return Properties(self, args, TRITONSERVER_ServerModelTransactionProperties);
}

PyObject* Metrics(PyObject* self, PyObject*) {
  const ServerRef server = ServerOf(self);
  TRITONSERVER_Metrics* metrics = nullptr;
  const char* base = nullptr;
  size_t size = 0;
  if (server == nullptr ||
      !Run([&] { return TRITONSERVER_ServerMetrics(server->get(), &metrics); })) {
    return nullptr;
  }
  PyObject* text = nullptr;
  if (Run([&] {
        return TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size);
      })) {
    text = PyUnicode_DecodeUTF8(base, static_cast<Py_ssize_t>(size), "replace");
  }
  TRITONSERVER_ErrorDelete(TRITONSERVER_MetricsDelete(metrics));
  return text;
}

}  // namespace

PyMethodDef report_methods[] = {
    {"live", kSafely<Live>, METH_NOARGS, nullptr},
    {"ready", kSafely<Ready>, METH_NOARGS, nullptr},
    {"model_ready", kSafely<ModelReady>, METH_VARARGS, "model_ready(name, version)"},
    {"metadata", kSafely<Metadata>, METH_NOARGS, nullptr},
    {"model_metadata", kSafely<ModelMetadata>, METH_VARARGS, "model_metadata(name, version)"},
    {"model_statistics", kSafely<ModelStatistics>, METH_VARARGS, "model_statistics(name, version)"},
    {"model_config", kSafely<ModelConfig>, METH_VARARGS, "model_config(name, version, format)"},
    {"index", kSafely<Index>, METH_VARARGS, "index(ready_only)"},
    {"batch_properties", kSafely<BatchProperties>, METH_VARARGS, "batch_properties(name, version)"},
    {"transaction_properties", kSafely<TransactionProperties>, METH_VARARGS,
     "transaction_properties(name, version)"},
    {"metrics", kSafely<Metrics>, METH_NOARGS, "All metrics, in Prometheus' text format."},
    {},
};

}  // namespace nereid_python::native
