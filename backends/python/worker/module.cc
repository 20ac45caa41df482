// SPDX-License-Identifier: Apache-2.0
// The module _nereid_native: the access of this backend's Python files to the server.
#include <time.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "backends/python/ipc/protocol.h"
#include "backends/python/worker/fork_server.h"
#include "backends/python/worker/pack.h"
#include "backends/python/worker/process.h"
#include "backends/python/worker/python_api.h"
#include "backends/python/worker/tensor.h"
#include "backends/python/worker/tensor_numpy.h"
#include "backends/python/worker/transport.h"

namespace nereid_python::worker {
namespace {

PyObject* model_error_type = nullptr;  // set once, when the module is made
Transport* transport = nullptr;        // set by begin(); lives as long as the process

// The transport; null with an exception if it must not or cannot be used.
Transport* Usable() {
  if (InForkedChild()) {
    RaiseModelError(
        "This process was forked from the process of a model: only the latter can call the "
        "server.");
    return nullptr;
  }
  if (transport == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "the process is not connected with a server");
  }
  return transport;
}

PyObject* None() {
  Py_INCREF(Py_None);
  return Py_None;
}

PyObject* Begin(PyObject*, PyObject* args) {
  int server_pid = 0;
  const char* title = nullptr;
  if (!PyArg_ParseTuple(args, "is:begin", &server_pid, &title)) return nullptr;
  BindToServer(server_pid, title);
  std::string why;
  std::unique_ptr<Transport> attached = Transport::Attach(&why);
  if (attached == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, why.c_str());
    return nullptr;
  }
  transport = attached.release();  // the kernel frees the rest when Python ends
  return None();
}

PyObject* Prepared(PyObject*, PyObject* args) {
  int server_pid = 0;
  if (!PyArg_ParseTuple(args, "i:prepared", &server_pid)) return nullptr;
  EndWithServer(server_pid);
  return PyBool_FromLong(ReportPrepared() ? 1 : 0);
}

PyObject* AwaitBirth(PyObject*, PyObject*) {
  Birth birth;
  if (!worker::AwaitBirth(&birth)) return None();
  const auto text = [](const std::string& bytes) {
    return PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  };
  Ref title(text(birth.title));
  Ref variables(PyList_New(0));
  Ref pair(PyTuple_New(2));
  if (!title || !variables || !pair) return nullptr;
  for (const std::string& variable : birth.variables) {
    const Ref entry(text(variable));
    if (!entry || PyList_Append(variables.get(), entry.get()) != 0) return nullptr;
  }
  PyTuple_SetItem(pair.get(), 0, title.release());
  PyTuple_SetItem(pair.get(), 1, variables.release());
  return pair.release();
}

// What is kept of the files of clients ends if no command needs it for a while.
void AwaitCommand(Transport* server) {
  for (bool came = false; !came;) {
    const uint64_t limit_ns = server->client_files()->HasUnused() ? ClientFiles::kKeptNs : 0;
    {
      const WithoutGil released;
      came = server->WaitForCommand(limit_ns);
    }
    if (!came) server->client_files()->EndUnused();
  }
}

// Taking the command has freed the last reply. True.
bool Trimmed(Transport* server) {
  server->out_blocks()->Trim();
  server->Reply(OutMessage());
  return true;
}

PyObject* NextCommand(PyObject*, PyObject*) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  Command command{};
  std::string_view message;
  do {
    server->Reclaim();
    AwaitCommand(server);
    if (!server->TakeCommand(&command, &message)) {
      PyErr_SetString(PyExc_ValueError, "a command of the server lies outside of its memory");
      return nullptr;
    }
  } while (command == Command::kTrim && Trimmed(server));
  Ref value(Unpack(server, message));
  if (!value) return nullptr;
  Ref number(PyLong_FromLong(static_cast<long>(command)));
  Ref pair(PyTuple_New(2));
  if (!number || !pair) return nullptr;
  PyTuple_SetItem(pair.get(), 0, number.release());
  PyTuple_SetItem(pair.get(), 1, value.release());
  return pair.release();
}

PyObject* Reply(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  OutMessage message;
  if (server == nullptr || !Pack(server, value, &message)) return nullptr;
  server->Reply(std::move(message));
  return None();
}

PyObject* ReplyToPart(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  OutMessage message;
  if (server == nullptr || !Pack(server, value, &message)) return nullptr;
  if (server->ReplyToPart(std::move(message))) return None();
  PyErr_SetString(PyExc_RuntimeError, "the command has no further batch");
  return nullptr;
}

PyObject* PrepareReply(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  OutMessage message;
  if (server == nullptr || !Pack(server, value, &message)) return nullptr;
  server->PrepareReply(std::move(message));
  return None();
}

PyObject* SendReply(PyObject*, PyObject*) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  server->SendReply();
  return None();
}

uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

PyObject* ComputeStarts(PyObject*, PyObject*) {
  if (Usable() == nullptr) return nullptr;
  transport->control()->compute_start_ns = MonotonicNs();
  return None();
}

PyObject* ComputeEnds(PyObject*, PyObject*) {
  if (Usable() == nullptr) return nullptr;
  transport->control()->compute_end_ns = MonotonicNs();
  return None();
}

// Reads the answer in a slot, and frees the slot.
PyObject* TakeAnswer(Transport* server, uint32_t index) {
  const Slot& slot = server->slot(index);
  if (slot.inline_size > 0) {
    const std::string answer(slot.inline_bytes, std::min(slot.inline_size, Slot::kInlineSize));
    server->FreeSlot(index);
    return Unpack(server, answer);
  }
  const uint64_t block = slot.block;
  const uint64_t offset = slot.offset;
  const uint64_t size = slot.size;
  server->FreeSlot(index);
  std::string_view answer;
  if (block > offset || !server->InBytes(offset, size, &answer)) {
    PyErr_SetString(PyExc_ValueError, "an answer of the server lies outside of its memory");
    return nullptr;
  }
  const Keeper keeper = server->in_blocks()->Keep(block, offset + size);
  return Unpack(server, answer);
}

PyObject* Ask(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  OutMessage message;
  if (server == nullptr || !Pack(server, value, &message)) return nullptr;
  uint32_t slot = 0;
  server->Ask(message, &slot);
  return TakeAnswer(server, slot);
}

// Whether a post may be the end of a request, after which its client changes its memory.
bool MayAnswer(PyObject* post) {
  if (!PyTuple_Check(post) || PyTuple_Size(post) == 0) return false;
  const auto call = static_cast<Call>(PyLong_AsLong(PyTuple_GetItem(post, 0)));
  return call == Call::kSend || call == Call::kClosed;
}

PyObject* Post(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  OutMessage message;
  if (server == nullptr || !Pack(server, value, &message)) return nullptr;
  if (MayAnswer(value)) server->client_files()->Detach();
  server->Post(std::move(message));
  return None();
}

PyObject* PostResponse(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  OutMessage message;
  if (server == nullptr || !Pack(server, value, &message)) return nullptr;
  server->client_files()->Detach();
  const unsigned long long bytes = message.block_size();
  const unsigned long entries = server->Post(std::move(message));
  return Py_BuildValue("kK", entries, bytes);
}

PyObject* AwaitRead(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  const unsigned long entries = PyLong_AsUnsignedLong(value);
  if (PyErr_Occurred() != nullptr) return nullptr;
  server->AwaitRead(static_cast<uint32_t>(entries));
  return None();
}

PyObject* HasCredit(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  const unsigned long long request = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred() != nullptr) return nullptr;
  return PyBool_FromLong(server->HasCredit(request) ? 1 : 0);
}

PyObject* CreditReturns(PyObject*, PyObject*) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  return PyLong_FromUnsignedLong(server->credit_returns());
}

PyObject* AwaitCreditReturn(PyObject*, PyObject* value) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  const unsigned long seen = PyLong_AsUnsignedLong(value);
  if (PyErr_Occurred() != nullptr) return nullptr;
  server->AwaitCreditReturn(static_cast<uint32_t>(seen));
  return None();
}

PyObject* Settle(PyObject*, PyObject*) {
  constexpr uint64_t kLimitNs = 2'000'000'000;  // a server that does not read in time will end this
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  server->Settle(kLimitNs);
  return None();
}

PyObject* Place(PyObject*, PyObject* args) {
  PyObject* place = nullptr;
  PyObject* output = nullptr;
  if (!PyArg_ParseTuple(args, "OO:place", &place, &output)) return nullptr;
  if (TensorOf(place) == nullptr || TensorOf(output) == nullptr) {
    PyErr_SetString(PyExc_TypeError, "place() takes two tensors");
    return nullptr;
  }
  return PlaceTensor(*TensorOf(place), output);
}

PyObject* LogLevels(PyObject*, PyObject*) {
  const bool connected = transport != nullptr && !InForkedChild();
  return PyLong_FromUnsignedLong(
      connected ? transport->control()->log_levels.load(std::memory_order_relaxed) : 0);
}

PyObject* FreeMemory(PyObject*, PyObject*) {
  Transport* const server = Usable();
  if (server == nullptr) return nullptr;
  return PyLong_FromUnsignedLongLong(kMaxData - server->out_blocks()->used());
}

PyObject* Forked(PyObject*, PyObject*) { return PyBool_FromLong(InForkedChild() ? 1 : 0); }

PyObject* BindChild(PyObject*, PyObject*) {
  BindForkedChild();
  return None();
}

PyMethodDef methods[] = {
    {"begin", Begin, METH_VARARGS, "begin(server_pid, title): binds the process to its server."},
    {"prepared", Prepared, METH_VARARGS,
     "prepared(server_pid): binds the fork server to its server; whether that listens."},
    {"await_birth", AwaitBirth, METH_NOARGS,
     "Forks processes. In these: (title, variables); None when the server wants no more of them."},
    {"next_command", NextCommand, METH_NOARGS, "Waits for a command: (number, value)."},
    {"reply", Reply, METH_O, "Answers the command."},
    {"reply_to_part", ReplyToPart, METH_O, "Answers the next batch of a command with several."},
    {"prepare_reply", PrepareReply, METH_O,
     "Answers the command, or keeps the answer back until send_reply."},
    {"send_reply", SendReply, METH_NOARGS, "Sends an answer that was kept back."},
    {"compute_starts", ComputeStarts, METH_NOARGS, "Notes the time before the model's execute."},
    {"compute_ends", ComputeEnds, METH_NOARGS, "Notes the time after the model's execute."},
    {"ask", Ask, METH_O, "Calls the server and waits for the answer."},
    {"post", Post, METH_O, "Tells the server something without waiting."},
    {"post_response", PostResponse, METH_O,
     "As post, for one of several responses: (entries so far, bytes of this one)."},
    {"await_read", AwaitRead, METH_O, "Waits until the server has read that many entries."},
    {"has_credit", HasCredit, METH_O, "Whether more responses of a request are wanted now."},
    {"credit_returns", CreditReturns, METH_NOARGS,
     "A number that changes when a request gets its credit back."},
    {"await_credit_return", AwaitCreditReturn, METH_O,
     "Waits until that number is another one, for a while at most."},
    {"place", Place, METH_VARARGS,
     "place(where, output): writes an output where its client wants it; the tensor to be sent."},
    {"rebuild_tensor", RebuildTensor, METH_VARARGS,
     "rebuild_tensor(name, type, shape, bytes): a tensor from what pickle has kept of it."},
    {"settle", Settle, METH_NOARGS, "Waits until the server has read all that was posted."},
    {"log_levels", LogLevels, METH_NOARGS, "Bit i: lines of level i are wanted."},
    {"free_memory", FreeMemory, METH_NOARGS, "How many bytes messages and tensors can still take."},
    {"in_forked_child", Forked, METH_NOARGS, "Whether this process was forked from a model's."},
    {"bind_forked_child", BindChild, METH_NOARGS, "For os.register_at_fork: in the child."},
    {},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_nereid_native",
    "The connection of a model with its server.",
    -1,
    methods,
};

bool AddModelError(PyObject* module) {
  model_error_type =
      PyErr_NewException("c_python_backend_utils.TritonModelException", nullptr, nullptr);
  return model_error_type != nullptr &&
         PyObject_SetAttrString(module, "TritonModelException", model_error_type) == 0;
}

// The numbers of the protocol, for the runtime's Python files.
bool AddProtocol(PyObject* module) {
  struct Number {
    const char* name;
    long value;
  };
#define NEREID_COMMAND(name, python_name, number) {"COMMAND_" #python_name, number},
#define NEREID_CALL(name, python_name, number) {"CALL_" #python_name, number},
#define NEREID_FIELD(name, python_name, number) {"FIELD_" #python_name, number},
  constexpr Number kNumbers[] = {NEREID_PYTHON_COMMANDS(NEREID_COMMAND)  //
                                 NEREID_PYTHON_POSTS(NEREID_CALL)        //
                                 NEREID_PYTHON_QUESTIONS(NEREID_CALL)    //
                                 NEREID_PYTHON_REQUEST_FIELDS(NEREID_FIELD)};
#undef NEREID_FIELD
#undef NEREID_CALL
#undef NEREID_COMMAND
  return std::all_of(std::begin(kNumbers), std::end(kNumbers), [&](const Number& number) {
    return PyModule_AddIntConstant(module, number.name, number.value) == 0;
  });
}

}  // namespace

PyObject* RaiseModelError(std::string_view text) {
  const Ref message(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (message) PyErr_SetObject(model_error_type, message.get());
  return nullptr;
}

// Null with an exception.
PyObject* MakeModule() {
  Ref module(PyModule_Create(&definition));
  if (!module || !AddModelError(module.get()) || !AddProtocol(module.get()) ||
      !AddTensorType(module.get()) || !AddArraySourceType()) {
    return nullptr;
  }
  return module.release();
}

}  // namespace nereid_python::worker

PyMODINIT_FUNC PyInit__nereid_native() { return nereid_python::worker::MakeModule(); }
