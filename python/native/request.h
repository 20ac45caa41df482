// SPDX-License-Identifier: Apache-2.0
// Makes the request of a call from Python's arguments. REQUIRES the GIL.
#ifndef NEREID_PYTHON_NATIVE_REQUEST_H_
#define NEREID_PYTHON_NATIVE_REQUEST_H_

#include "backends/sdk/python/python_api.h"
#include "python/native/call.h"

namespace nereid_python::native {

// What infer() and submit() get.
struct RequestArguments {
  PyObject* model;    // str
  PyObject* version;  // int; -1: the model's policy decides
  PyObject* inputs;   // dict of values by name, see AddInput
  PyObject* outputs;  // sequence of names, or None: all
  // None, or a tuple: id (str or None), parameters (dict or None), priority, time-out in
  // microseconds, sequence (int, str or None), flags (TRITONSERVER_RequestFlag).
  PyObject* extras;
  PyObject* convert;  // see AddInput
};

// Fills in the request of `call`. False with an exception.
bool MakeRequest(Call* call, TRITONSERVER_Server* server, const RequestArguments& arguments);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_REQUEST_H_
