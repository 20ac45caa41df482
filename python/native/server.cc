// SPDX-License-Identifier: Apache-2.0
#include "python/native/server.h"

#include <string>
#include <vector>

#include "python/native/life.h"
#include "python/native/object.h"

namespace nereid_python::native {
namespace {

using ServerObject = Object<ServerRef>;

// Server(settings): starts a server. Blocks until its models are loaded.
PyObject* New(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* settings = nullptr;
  if (!PyArg_ParseTuple(args, "O:Server", &settings)) return nullptr;
  TRITONSERVER_ServerOptions* const options = MakeOptions(settings);
  if (options == nullptr) return nullptr;
  TRITONSERVER_Server* server = nullptr;
  const bool started = Run([&] { return TRITONSERVER_ServerNew(&server, options); });
  TRITONSERVER_ErrorDelete(TRITONSERVER_ServerOptionsDelete(options));
  return started ? ServerObject::New(type, std::make_shared<RunningServer>(server)) : nullptr;
}

void Dealloc(PyObject* self) {
  ServerRef server = std::move(ServerObject::Of(self));
  if (server != nullptr) {
    const Released released;
    server = nullptr;  // may wait for requests in flight
  }
  ServerObject::Dealloc(self);
}

// Ends the ports and the server. The object cannot be used afterwards, unless that fails.
PyObject* Stop(PyObject* self, PyObject*) {
  ServerRef server = ServerOf(self);
  if (server == nullptr) return nullptr;
  if (!Run([&] { return server->frontends()->Stop(); })) return nullptr;
  if (!Run([&] { return TRITONSERVER_ServerStop(server->get()); })) return nullptr;
  ServerRef own = std::move(ServerObject::Of(self));
  {
    const Released released;
    own = nullptr;
    server = nullptr;
  }
  return None();
}

// open_ports(options): options as on the command line, "--name=value".
PyObject* OpenPorts(PyObject* self, PyObject* options) {
  const ServerRef server = ServerOf(self);
  if (server == nullptr) return nullptr;
  const Ref texts(PySequence_Tuple(options));
  if (!texts) return nullptr;
  std::vector<std::string> all;
  for (Py_ssize_t i = 0; i < PyTuple_Size(texts.get()); ++i) {
    std::string_view text;
    if (!Utf8(PyTuple_GetItem(texts.get(), i), &text)) return nullptr;
    all.emplace_back(text);
  }
  return Run([&] { return server->frontends()->Start(server->get(), all); }) ? None() : nullptr;
}

PyObject* Port(PyObject* self, PyObject* protocol) {
  const ServerRef server = ServerOf(self);
  std::string_view name;
  if (server == nullptr || !Utf8(protocol, &name)) return nullptr;
  uint16_t port = 0;
  CError error = nullptr;
  {
    const Released released;
    error = server->frontends()->Port(name.data(), &port);
  }
  if (error == nullptr) return PyLong_FromLong(port);
  if (TRITONSERVER_ErrorCode(error) != TRITONSERVER_ERROR_NOT_FOUND) return Raise(error);
  TRITONSERVER_ErrorDelete(error);
  return None();
}

PyMethodDef life_methods[] = {
    {"stop", kSafely<Stop>, METH_NOARGS,
     "Ends the ports and the server; waits for requests in flight."},
    {"open_ports", kSafely<OpenPorts>, METH_O,
     "Opens the ports that options like '--http-port=0' ask for."},
    {"port", kSafely<Port>, METH_O,
     "The number of an open port: 'http', 'grpc' or 'metrics'; or None."},
    {},
};

}  // namespace

RunningServer::RunningServer(TRITONSERVER_Server* server)
    : server_(server), generation_(Generation()) {}

RunningServer::~RunningServer() {
  if (!usable()) {
    frontends_.Forget();
    return;
  }
  CError error = frontends_.Stop();
  // What hangs still uses the server.
  if (error == nullptr) error = TRITONSERVER_ServerDelete(server_);
  TRITONSERVER_ErrorDelete(error);
}

bool RunningServer::usable() const { return generation_ == Generation(); }

ServerRef ServerOf(PyObject* self) {
  ServerRef server = ServerObject::Of(self);
  if (server == nullptr) {
    Raise(TRITONSERVER_ERROR_UNAVAILABLE, "the server was stopped");
    return nullptr;
  }
  if (!server->usable()) {
    Raise(TRITONSERVER_ERROR_UNAVAILABLE,
          "this process was forked from the one that started the server: start a server of its "
          "own in a process made by the start method 'spawn', or fork before the server starts");
    return nullptr;
  }
  return server;
}

bool AddServerType(PyObject* module) {
  static std::vector<PyMethodDef> methods;
  for (PyMethodDef* group : {life_methods, inference_methods, report_methods, management_methods}) {
    for (; group->ml_name != nullptr; ++group) methods.push_back(*group);
  }
  methods.push_back({});
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(kSafely<New>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
      {Py_tp_methods, methods.data()},
      {0, nullptr},
  };
  static PyType_Spec spec = {"nereid_server._native.Server", sizeof(ServerObject), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  return AddType(module, "Server", &spec) != nullptr;
}

}  // namespace nereid_python::native
