// SPDX-License-Identifier: Apache-2.0
// Inference: the methods `infer`, which waits, and `submit`, which does not.
#include <string>

#include "python/native/call.h"
#include "python/native/life.h"
#include "python/native/object.h"
#include "python/native/request.h"
#include "python/native/response.h"
#include "python/native/server.h"

namespace nereid_python::native {
namespace {

struct Unref {
  void operator()(Call* call) const { call->Unref(); }
};
using CallRef = std::unique_ptr<Call, Unref>;

constexpr uint64_t kAnyNumber = UINT64_MAX;

// Null, with an exception, if the server refuses the request or the arguments are wrong.
CallRef Issue(const ServerRef& server, PyObject* const* args, uint64_t limit, bool here) {
  CallRef call(new Call(limit));
  if (!MakeRequest(call.get(), server->get(),
                   {args[0], args[1], args[2], args[3], args[4], args[5]}) ||
      !Run([&] { return call->Issue(server->get(), here); })) {
    call->DropKept();
    return nullptr;
  }
  return call;
}

PyObject* RaiseCount(PyObject* model, uint64_t answers) {
  std::string_view name;
  if (!Utf8(model, &name)) return nullptr;
  return RaiseInvalid("model '" + std::string(name) + "' answered with " + std::to_string(answers) +
                      " responses, and infer() is for exactly one: use stream()");
}

// The only response of a call that has ended.
PyObject* Answer(Call* call, PyObject* model) {
  const uint64_t answers = call->answers();
  if (answers != 1) return RaiseCount(model, answers);
  Call::Arrival arrival{};
  call->Take(&arrival);
  arrival.final = true;  // the flag may have come alone
  return ReadResponse(arrival);
}

bool CheckCount(Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return true;
  PyErr_SetString(PyExc_TypeError, "wrong number of arguments");
  return false;
}

// infer(model, version, inputs, outputs, extras, convert, seconds)
PyObject* Infer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  DropLeft();
  const ServerRef server = ServerOf(self);
  if (server == nullptr || !CheckCount(count, 7)) return nullptr;
  const double seconds = PyFloat_AsDouble(args[6]);
  if (seconds == -1 && PyErr_Occurred() != nullptr) return nullptr;
  const CallRef call = Issue(server, args, 1, true);
  if (call == nullptr) return nullptr;
  const int news = WaitForNews(call.get(), Call::News::kEnd, seconds);
  if (news == 1) {
    call->DropKept();
    return Answer(call.get(), args[0]);
  }
  // The server reads the inputs until it has given the request up; then they are let go.
  call->Abandon();
  {
    const Released released;
    call->Cancel();
  }
  if (news == 0) {
    PyErr_SetString(PyExc_TimeoutError, "the answer did not come in time");
  }
  return nullptr;
}

// submit(model, version, inputs, outputs, extras, convert, single)
PyObject* Submit(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  DropLeft();
  const ServerRef server = ServerOf(self);
  if (server == nullptr || !CheckCount(count, 7)) return nullptr;
  CallRef call = Issue(server, args, args[6] == Py_True ? 1 : kAnyNumber, false);
  return call == nullptr ? nullptr : NewCallObject(call.release());
}

}  // namespace

PyMethodDef inference_methods[] = {
    {"infer", AsMethod(kSafely<Infer>), METH_FASTCALL,
     "infer(model, version, inputs, outputs, extras, convert, seconds): the response as a tuple."},
    {"submit", AsMethod(kSafely<Submit>), METH_FASTCALL,
     "submit(model, version, inputs, outputs, extras, convert, single): a Call, which keeps one "
     "response (single) or all."},
    {},
};

}  // namespace nereid_python::native
