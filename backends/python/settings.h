// SPDX-License-Identifier: Apache-2.0
// PythonSettings: the command line's settings of the Python backend, and what all its models share.
// Made in TRITONBACKEND_Initialize. Immutable.
#ifndef NEREID_BACKENDS_PYTHON_SETTINGS_H_
#define NEREID_BACKENDS_PYTHON_SETTINGS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/python/environment/variables.h"
#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// --backend-config=python,<key>=<value>, or with the name of a backend written in Python
struct PythonSettings {
  // python: the interpreter of models without an environment of their own, a path or a name that is
  // looked up on the PATH.
  std::string python = "python3";
  // install-requirements: whether the requirements.txt of a model is installed.
  bool install_requirements = false;
  // requirements-cache: the folder for installed and unpacked environments. Empty: there is no home
  // directory for it.
  std::string requirements_cache;
  // wheelhouse: a folder of wheels, the only source from which requirements are installed. Empty:
  // the index configured for pip.
  std::string wheelhouse;
  // initialize-timeout-seconds: how long importing a model and its `initialize` may take. Loading
  // weights takes minutes at most; a process that hangs is abandoned after this time.
  int64_t initialize_timeout_seconds = 600;
  // stderr-lines: how many of the last lines that a process wrote are shown in the error when it
  // ends.
  int64_t stderr_lines = 20;
  // fork-server: whether processes are forked from a prepared one (fork_server.h).
  bool fork_server = true;
  // fork-server-keep-seconds: how long a prepared process is kept after its last model. A model
  // that is loaded again is not loaded much later.
  int64_t fork_server_keep_seconds = 60;

  // What the server reports about itself.
  CpuBudget budget;
  std::string backend;            // "python", or that of a backend that is written in Python
  std::string model_file;         // the file that all models of such a backend run; else empty
  std::string runtime_directory;  // folder of the Python backend's own files
  Variables variables;            // of this process, at its start

  // Those of the command line. INVALID_ARG, with Triton's texts, for values that Triton
  // refuses, too.
  static Result<PythonSettings> FromJson(const Json& cmdline, const Variables& variables,
                                         std::string_view backend);
  // Reads the settings, and all other members, from a backend's handle, and logs noteworthy ones.
  static Result<PythonSettings> Read(TRITONBACKEND_Backend* backend);
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_SETTINGS_H_
