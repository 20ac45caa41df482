// Packing: Python objects into a message in a block of the out file, followed by the bytes of their
// tensors. A tensor that is already in the in file is referred to, not copied.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PACK_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PACK_H_

#include "backends/python/worker/out_message.h"
#include "backends/python/worker/python_api.h"
#include "backends/python/worker/transport.h"

namespace nereid_python::worker {

// Takes None, bool, int, float, str, bytes, list, tuple, dict and Tensor. False with an exception.
// REQUIRES the GIL; it is released while many bytes are copied.
bool Pack(Transport* transport, PyObject* value, OutMessage* message);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PACK_H_
