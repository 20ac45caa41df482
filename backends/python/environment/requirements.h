// SPDX-License-Identifier: Apache-2.0
// Installs the requirements.txt of a model into a separate environment, once; the cache key is the
// file's content and the interpreter. Thread-safe; blocks, for minutes.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_REQUIREMENTS_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_REQUIREMENTS_H_

#include <string>

#include "backends/python/environment/interpreter.h"
#include "backends/python/environment/variables.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

struct RequirementsFile {
  std::string path;
  Interpreter interpreter;  // its packages stay visible
  std::string cache;
  std::string wheelhouse;  // empty: the index configured for pip
  std::string model;       // for the log
  Variables variables;
};

// The folder of the virtual environment. Uses `uv` if it is on the PATH, otherwise pip; their
// output goes to the log. INTERNAL with their last lines if they fail or take too long.
Result<std::string> InstallRequirements(const RequirementsFile& file);

// requirements.txt in the folder of the version, or in that of the model; empty if there is none.
std::string FindRequirements(const std::string& model_directory, int64_t version);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_REQUIREMENTS_H_
