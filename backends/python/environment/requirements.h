// Installs the requirements.txt of a model into an environment of its own, once: kept in the cache
// by its content and the interpreter. Thread-safe; blocks, for minutes.
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
  std::string wheelhouse;  // empty: the index that pip is set to
  std::string model;       // for the log
  Variables variables;
};

// The folder of the virtual environment. By `uv` where that is on the PATH, otherwise by pip; what
// they write goes to the log. INTERNAL with their last lines when they fail or take too long.
Result<std::string> InstallRequirements(const RequirementsFile& file);

// requirements.txt in the folder of the version, or in that of the model; empty if there is none.
std::string FindRequirements(const std::string& model_directory, int64_t version);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_REQUIREMENTS_H_
