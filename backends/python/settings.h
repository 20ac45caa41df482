// PythonSettings: what the command line says to the Python backend, and what all its models share.
// Made in TRITONBACKEND_Initialize. Immutable.
#ifndef NEREID_BACKENDS_PYTHON_SETTINGS_H_
#define NEREID_BACKENDS_PYTHON_SETTINGS_H_

#include <cstdint>
#include <string>

#include "backends/python/environment/variables.h"
#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// --backend-config=python,<key>=<value>, or of the name of a backend that is written in Python
struct PythonSettings {
  // python: the interpreter of models without an environment of their own, a path or a name that is
  // looked up on the PATH.
  std::string python = "python3";
  // install-requirements: whether the requirements.txt of a model is installed.
  bool install_requirements = false;
  // requirements-cache: where environments lie that were installed or unpacked. Empty: there is no
  // home directory to have it in.
  std::string requirements_cache;
  // wheelhouse: a folder of wheels that requirements are installed from, and nothing else. Empty:
  // the index that pip is set to.
  std::string wheelhouse;
  // initialize-timeout-seconds: how long importing a model and its `initialize` may take. Loading
  // weights takes minutes at most; a process that waits for what never comes is not waited for
  // longer than this.
  int64_t initialize_timeout_seconds = 600;
  // stderr-lines: how many of the last lines that a process wrote go into the error of its end.
  int64_t stderr_lines = 20;

  // What the server says about itself.
  CpuBudget budget;
  std::string backend;            // "python", or that of a backend that is written in Python
  std::string model_file;         // the file that all models of such a backend run; else empty
  std::string runtime_directory;  // where the Python backend's own files lie
  Variables variables;            // of this process, at its start

  // INVALID_ARG for what the original refuses, too, with its texts. Settings of the original that
  // have no meaning here are named in `without_effect`, in order.
  static Result<PythonSettings> FromJson(const Json& cmdline, const Variables& variables,
                                         std::string* without_effect);
  // The same of a backend's handle, with everything else; writes to the log what is worth knowing.
  static Result<PythonSettings> Read(TRITONBACKEND_Backend* backend);
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_SETTINGS_H_
