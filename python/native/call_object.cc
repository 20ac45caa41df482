// SPDX-License-Identifier: Apache-2.0
// The Python type `Call`: a call that was issued, for streams and for asyncio.
#include "python/native/call.h"
#include "python/native/life.h"
#include "python/native/object.h"
#include "python/native/response.h"

namespace nereid_python::native {
namespace {

// Python's reference of a call. One that is dropped before its end is cancelled.
class Owner {
 public:
  explicit Owner(Call* call) : call_(call), generation_(Generation()) {}
  Owner(Owner&& other) noexcept
      : call_(std::exchange(other.call_, nullptr)), generation_(other.generation_) {}
  ~Owner() {
    // In a forked child, the server that holds the other references is gone.
    if (call_ == nullptr || !usable()) return;
    if (!call_->ended()) {
      call_->Abandon();
      call_->Cancel();
    }
    call_->Unref();
  }
  bool usable() const { return generation_ == Generation(); }
  Call* get() const { return call_; }

 private:
  Call* call_;
  const uint32_t generation_;
};

using CallObject = Object<Owner>;
PyTypeObject* call_type = nullptr;

// Null with an exception.
Call* Usable(PyObject* self) {
  const Owner& owner = CallObject::Of(self);
  if (owner.usable()) return owner.get();
  Raise(TRITONSERVER_ERROR_UNAVAILABLE,
        "this process was forked from the one that made the request: only that one can read the "
        "answer");
  return nullptr;
}

Call::News NewsOf(int each) { return each != 0 ? Call::News::kEach : Call::News::kEnd; }

PyObject* Wait(PyObject* self, PyObject* args) {
  int each = 0;
  double seconds = -1;
  Call* const call = Usable(self);
  if (call == nullptr || !PyArg_ParseTuple(args, "pd:wait", &each, &seconds)) return nullptr;
  const int news = WaitForNews(call, NewsOf(each), seconds);
  return news < 0 ? nullptr : PyBool_FromLong(news);
}

PyObject* Take(PyObject* self, PyObject*) {
  Call* const call = Usable(self);
  if (call == nullptr) return nullptr;
  Call::Arrival arrival{};
  const bool there = call->Take(&arrival);
  if (call->ended()) call->DropKept();
  return there ? ReadResponse(arrival) : None();
}

PyObject* Arm(PyObject* self, PyObject* args) {
  PyObject* waker_object = nullptr;
  PyObject* future = nullptr;
  int each = 0;
  Call* const call = Usable(self);
  if (call == nullptr || !PyArg_ParseTuple(args, "OOp:arm", &waker_object, &future, &each)) {
    return nullptr;
  }
  std::shared_ptr<Waker> waker = WakerOf(waker_object);
  if (waker == nullptr) return nullptr;
  return PyBool_FromLong(call->Arm(std::move(waker), Ref::Borrow(future), NewsOf(each)) ? 1 : 0);
}

PyObject* Cancel(PyObject* self, PyObject*) {
  Call* const call = Usable(self);
  if (call == nullptr) return nullptr;
  {
    const Released released;
    call->Cancel();
  }
  return None();
}

PyObject* Ended(PyObject* self, void*) {
  Call* const call = Usable(self);
  return call == nullptr ? nullptr : PyBool_FromLong(call->ended() ? 1 : 0);
}

PyObject* Answers(PyObject* self, void*) {
  Call* const call = Usable(self);
  return call == nullptr ? nullptr : PyLong_FromUnsignedLongLong(call->answers());
}

}  // namespace

bool AddCallType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"wait", kSafely<Wait>, METH_VARARGS,
       "wait(each, seconds): sleeps until there is a response (each) or the end, for `seconds` at "
       "most unless they are negative; false if neither came."},
      {"take", kSafely<Take>, METH_NOARGS,
       "The next response as a tuple; None if there is none yet."},
      {"arm", kSafely<Arm>, METH_VARARGS,
       "arm(waker, future, each): the waker gives `future` out once there are news; false if there "
       "are some."},
      {"cancel", kSafely<Cancel>, METH_NOARGS, "Asks the server to give the request up."},
      {},
  };
  static PyGetSetDef attributes[] = {
      {"ended", Ended, nullptr, "All responses are taken, and the inputs are free.", nullptr},
      {"answers", Answers, nullptr, "How many responses have come.", nullptr},
      {}};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(CallObject::Dealloc)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {0, nullptr},
  };
  static PyType_Spec spec = {"nereid_server._native.Call", sizeof(CallObject), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  call_type = AddType(module, "Call", &spec);
  return call_type != nullptr;
}

PyObject* NewCallObject(Call* call) { return CallObject::New(call_type, Owner(call)); }

}  // namespace nereid_python::native
