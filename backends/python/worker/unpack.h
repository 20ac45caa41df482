// Unpacking: a message of the server as Python objects.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_UNPACK_H_
#define NEREID_BACKENDS_PYTHON_WORKER_UNPACK_H_

#include <string_view>

#include "backends/python/worker/python_api.h"
#include "backends/python/worker/transport.h"

namespace nereid_python::worker {

// A new reference. Null with an exception for bytes that are no value, or name memory that is not
// there. Tensors keep the blocks that they lie in. REQUIRES the GIL.
PyObject* Unpack(Transport* transport, std::string_view message);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_UNPACK_H_
