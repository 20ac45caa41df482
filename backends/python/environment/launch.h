// SPDX-License-Identifier: Apache-2.0
// Launch: how the process of a model's instance is started. PythonEnvironments: determines that,
// and unpacks or installs the model's environment if it does not exist yet.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_LAUNCH_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_LAUNCH_H_

#include <array>
#include <string>
#include <vector>

#include "backends/python/environment/interpreter.h"
#include "backends/python/settings.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The variables with the number of threads of numerical libraries. The first also applies to the
// other libraries unless their own variables are set.
inline constexpr std::array<const char*, 4> kThreadVariables = {
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"};

// A value.
struct Launch {
  std::string interpreter;               // path of the executable
  std::vector<std::string> environment;  // NAME=VALUE, complete but for `threads`
  std::vector<std::string> threads;      // NAME=VALUE, of kThreadVariables
  std::string version;                   // "3.11.2"
  std::string description;               // for the log: which interpreter, why, how many threads
};

// One per backend; thread-safe. Several models may be prepared at a time, and an environment that
// they share is built once.
class PythonEnvironments {
 public:
  explicit PythonEnvironments(PythonSettings settings) : settings_(std::move(settings)) {}

  const PythonSettings& settings() const { return settings_; }

  // For an instance that may use `threads` threads in numerical libraries (0: as many as they
  // like). Blocks, for minutes if an environment must be built. An error says what is wrong with
  // the model's environment and how to correct it.
  Result<Launch> Prepare(const ModelConfig& config, int threads);

 private:
  struct Choice;

  // The environment that the model's EXECUTION_ENV_PATH names.
  Result<Choice> ChooseNamed(const ModelConfig& config, const std::string& named);
  Result<Choice> ChooseDefault(const ModelConfig& config);
  // Installs the model's requirements on top of what was chosen, if it has any.
  Error AddRequirements(const ModelConfig& config, Choice* choice);

  const PythonSettings settings_;
  InterpreterTable interpreters_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_LAUNCH_H_
