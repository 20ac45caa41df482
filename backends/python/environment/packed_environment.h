// Environments that come as an archive: unpacked once into the cache by the first user, and shared
// by all. Thread-safe; blocks.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_PACKED_ENVIRONMENT_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_PACKED_ENVIRONMENT_H_

#include <string>

#include "backends/python/environment/variables.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

struct PackedEnvironment {
  std::string archive;  // canonical
  std::string cache;
  std::string model;  // for the log
  Variables variables;
};

// The folder with the environment. A changed archive is unpacked again, into another folder.
Result<std::string> UnpackEnvironment(const PackedEnvironment& packed);

// bin/python3 or bin/python of an environment; empty if it has none.
std::string InterpreterIn(const std::string& environment);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_PACKED_ENVIRONMENT_H_
