// Unpacking: turns a message of the server into Python objects.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_UNPACK_H_
#define NEREID_BACKENDS_PYTHON_WORKER_UNPACK_H_

#include <string_view>

#include "backends/python/worker/python_api.h"
#include "backends/python/worker/transport.h"

namespace nereid_python::worker {

// A new reference. Null with an exception for bytes that are not a value or that refer to memory
// that does not exist; an OSError if this process cannot have the file of a client. Tensors keep
// alive what contains them. REQUIRES the GIL.
PyObject* Unpack(Transport* transport, std::string_view message);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_UNPACK_H_
