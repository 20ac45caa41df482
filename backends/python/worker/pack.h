// SPDX-License-Identifier: Apache-2.0
// Python objects as values (value.h) and back. All REQUIRE the GIL.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PACK_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PACK_H_

#include <string_view>

#include "backends/python/worker/out_message.h"
#include "backends/python/worker/python_api.h"
#include "backends/python/worker/transport.h"

namespace nereid_python::worker {

// Takes None, bool, int, float, str, bytes, list, tuple, dict and Tensor. False with an exception.
// REQUIRES the GIL; it is released while many bytes are copied.
bool Pack(Transport* transport, PyObject* value, OutMessage* message);

// A new reference. Null with an exception for bytes that are not a value or that refer to memory
// that does not exist; an OSError if this process cannot have the file of a client. Tensors keep
// alive what contains them. REQUIRES the GIL.
PyObject* Unpack(Transport* transport, std::string_view message);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PACK_H_
