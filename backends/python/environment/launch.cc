// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/launch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>

#include "backends/python/environment/archive.h"
#include "backends/python/environment/built_folder.h"
#include "backends/python/environment/requirements.h"
#include "backends/python/environment/run_program.h"
#include "backends/python/environment/variables.h"
#include "backends/sdk/error.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

// --- Environments that come as an archive: unpacked once into the cache by the first user, and
// shared by all.

struct PackedEnvironment {
  std::string archive;  // canonical
  std::string cache;
  std::string model;  // for the log
  Variables variables;
};

// bin/python3 or bin/python of an environment; empty if it has none.
std::string InterpreterIn(const std::string& environment) {
  for (const char* name : {"/bin/python3", "/bin/python"}) {
    const std::string path = environment + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kProgressEvery(5);
constexpr std::chrono::minutes kCondaUnpackLimit(10);

// conda-pack puts a program into its archives that writes the environment's new path into its
// files.
Error RunCondaUnpack(const PackedEnvironment& packed, const std::string& folder) {
  const std::string program = folder + "/bin/conda-unpack";
  const std::string interpreter = InterpreterIn(folder);
  if (access(program.c_str(), F_OK) != 0 || interpreter.empty()) return Error();
  Program run;
  run.arguments = {interpreter, program};
  run.variables = packed.variables;
  run.variables.Remove("PYTHONHOME");
  run.limit = kCondaUnpackLimit;
  run.starter = interpreter;
  NB_ASSIGN_OR_RETURN(const ProgramEnd end, RunProgram(run));
  if (end.ok) return Error();
  return Error::Internal(StrCat("bin/conda-unpack of '", packed.archive, "' ", end.how,
                                ", and wrote:\n", JoinLines(end.tail)));
}

Error MakeUnpacked(const PackedEnvironment& packed, int64_t size, const std::string& folder) {
  const Clock::time_point start = Clock::now();
  Clock::time_point told = start;
  NB_LOG_INFO("model '", packed.model, "': unpacking '", packed.archive, "' into '", folder, "'");
  NB_RETURN_IF_ERROR(Unpack(packed.archive, folder, [&](int64_t bytes) {
    if (Clock::now() < told + kProgressEvery) return;
    told = Clock::now();
    NB_LOG_INFO("model '", packed.model, "': ", size > 0 ? bytes * 100 / size : 0, " % of '",
                packed.archive, "' unpacked");
  }));
  NB_RETURN_IF_ERROR(RunCondaUnpack(packed, folder));
  const std::chrono::duration<double> seconds = Clock::now() - start;
  NB_LOG_INFO("model '", packed.model, "': unpacked '", packed.archive, "' in ", seconds.count(),
              " s");
  return Error();
}

// The folder with the environment. A changed archive is unpacked again, into another folder.
Result<std::string> UnpackEnvironment(const PackedEnvironment& packed) {
  struct stat status {};
  if (stat(packed.archive.c_str(), &status) != 0) {
    return Error::NotFound(StrCat("can not read '", packed.archive, "': ", std::strerror(errno)));
  }
  FolderRequest request;
  request.cache = packed.cache;
  request.key = "unpacked-" + KeyOfTexts({packed.archive, std::to_string(status.st_size),
                                          std::to_string(status.st_mtim.tv_sec),
                                          std::to_string(status.st_mtim.tv_nsec)});
  request.what = StrCat("what is in '", packed.archive, "'");
  request.make = [&](const std::string& folder) {
    return MakeUnpacked(packed, status.st_size, folder);
  };
  return GetBuiltFolder(request);
}

// --- Choosing an interpreter, and what it runs with.

namespace fs = std::filesystem;

constexpr const char* kPathParameter = "EXECUTION_ENV_PATH";
constexpr std::string_view kModelDirectory = "$$TRITON_MODEL_DIRECTORY";
constexpr const char* kOriginalsProgram = "triton_python_backend_stub";

std::string WithModelDirectory(std::string path, const std::string& directory) {
  for (size_t at = path.find(kModelDirectory); at != std::string::npos;
       at = path.find(kModelDirectory, at + directory.size())) {
    path.replace(at, kModelDirectory.size(), directory);
  }
  return path;
}

// Does what the environment's script `activate` would do.
void Activate(const std::string& environment, Variables* variables) {
  std::error_code ignored;
  const bool conda = fs::is_directory(environment + "/conda-meta", ignored);
  variables->Set(conda ? "CONDA_PREFIX" : "VIRTUAL_ENV", environment);
  variables->Remove(conda ? "VIRTUAL_ENV" : "CONDA_PREFIX");
  variables->Remove("PYTHONHOME");
  variables->Set("PATH", environment + "/bin:" +
                             variables->Get("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
}

// Returns a description of the thread counts for the log.
std::string SetThreads(int threads, Variables* variables) {
  if (const auto given = variables->Get(kThreadVariables[0]); given.has_value()) {
    return StrCat(kThreadVariables[0], "=", *given, " by the server's environment");
  }
  if (threads <= 0) return "threads as its libraries choose";
  for (const char* name : kThreadVariables)
    variables->SetUnlessGiven(name, std::to_string(threads));
  return StrCat(threads, threads == 1 ? " thread" : " threads", " for its numerical libraries");
}

// Warns that activation scripts, which need a shell, are not run. conda's own programs work without
// them.
void WarnOfScripts(const std::string& model, const std::string& environment) {
  std::error_code ignored;
  const fs::path scripts = fs::path(environment) / "etc/conda/activate.d";
  if (!fs::is_directory(scripts, ignored) || fs::is_empty(scripts, ignored)) return;
  NB_LOG_WARNING("model '", model, "': the scripts in '", scripts.string(),
                 "' are not run; what they set has to be in the server's environment");
}

}  // namespace

struct PythonEnvironments::Choice {
  Interpreter interpreter;
  Variables variables;
  std::string why;
};

Result<PythonEnvironments::Choice> PythonEnvironments::ChooseNamed(const ModelConfig& config,
                                                                   const std::string& named) {
  const std::string wanted = WithModelDirectory(named, config.directory);
  std::error_code error;
  const std::string path = fs::canonical(wanted, error).string();
  if (error) {
    return Error::InvalidArg(StrCat("Failed to get the canonical path for ", wanted, ". (",
                                    kPathParameter, " of model '", config.name,
                                    "': ", error.message(), ")"));
  }
  NB_LOG_INFO("Using Python execution env ", path);
  Choice choice;
  choice.variables = settings_.variables;
  choice.why = StrCat(kPathParameter, " '", path, "'");
  std::string environment = path;
  if (!fs::is_directory(path, error)) {
    if (settings_.requirements_cache.empty()) {
      return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                   StrCat("model '", config.name, "': there is no folder to unpack '", path,
                          "' into; set the backend setting 'requirements-cache'"));
    }
    NB_ASSIGN_OR_RETURN(environment, UnpackEnvironment({path, settings_.requirements_cache,
                                                        config.name, settings_.variables}));
    choice.why += StrCat(", unpacked in '", environment, "'");
  }
  const std::string python = InterpreterIn(environment);
  if (python.empty()) {
    return Error::InvalidArg(
        StrCat("model '", config.name, "': ", kPathParameter, " '", path,
               "' holds no bin/python3 that can be run; it has to be a virtual "
               "environment, an environment of conda, or an archive of one"));
  }
  Activate(environment, &choice.variables);
  WarnOfScripts(config.name, environment);
  NB_ASSIGN_OR_RETURN(choice.interpreter, interpreters_.Ask(python, choice.variables));
  return choice;
}

Result<PythonEnvironments::Choice> PythonEnvironments::ChooseDefault(const ModelConfig& config) {
  Choice choice;
  choice.variables = settings_.variables;
  Result<std::string> python = FindExecutable(settings_.python, settings_.variables);
  if (!python.ok()) {
    return Error::NotFound(StrCat("model '", config.name, "' needs a Python interpreter: ",
                                  python.error().message(), " (backend setting 'python')"));
  }
  choice.why = settings_.python == *python ? "backend setting 'python'"
                                           : StrCat("'", settings_.python, "' on the PATH");
  NB_ASSIGN_OR_RETURN(choice.interpreter, interpreters_.Ask(*python, choice.variables));
  return choice;
}

Error PythonEnvironments::AddRequirements(const ModelConfig& config, Choice* choice) {
  const std::string path = FindRequirements(config.directory, config.version);
  if (path.empty()) return Error();
  if (!settings_.install_requirements) {
    NB_LOG_WARNING("model '", config.name, "': '", path,
                   "' is not installed; the server option --backend-config=", settings_.backend,
                   ",install-requirements=true has it installed");
    return Error();
  }
  if (settings_.requirements_cache.empty()) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("model '", config.name, "': there is no folder to install '", path,
                        "' into; set the backend setting 'requirements-cache'"));
  }
  RequirementsFile file;
  file.path = path;
  file.interpreter = choice->interpreter;
  file.cache = settings_.requirements_cache;
  file.wheelhouse = settings_.wheelhouse;
  file.model = config.name;
  file.variables = choice->variables;
  NB_ASSIGN_OR_RETURN(const std::string environment, InstallRequirements(file));
  Activate(environment, &choice->variables);
  choice->why += StrCat(", with '", path, "' in '", environment, "'");
  NB_ASSIGN_OR_RETURN(choice->interpreter,
                      interpreters_.Ask(InterpreterIn(environment), choice->variables));
  return Error();
}

Result<Launch> PythonEnvironments::Prepare(const ModelConfig& config, int threads) {
  const std::string named = config.Parameter(kPathParameter);
  Result<Choice> chosen = named.empty() ? ChooseDefault(config) : ChooseNamed(config, named);
  if (!chosen.ok()) return chosen.TakeError();
  if (const Error supported = CheckSupported(chosen->interpreter); !supported.ok()) {
    return Error(supported.code(), StrCat("model '", config.name, "': ", supported.message()));
  }
  NB_RETURN_IF_ERROR(AddRequirements(config, &*chosen));
  const Interpreter& interpreter = chosen->interpreter;
  if (!interpreter.has_numpy) {
    return Error::NotFound(StrCat("model '", config.name, "': Python ", interpreter.version,
                                  " of '", interpreter.path, "' has no numpy; `", interpreter.path,
                                  " -m pip install numpy` installs it"));
  }
  std::error_code ignored;
  if (fs::exists(fs::path(config.directory) / kOriginalsProgram, ignored)) {
    NB_LOG_INFO("model '", config.name, "': '", kOriginalsProgram,
                "' in its folder has no effect here: any Python 3.", kOldestMinor, " to 3.",
                kNewestMinor, " runs it");
  }
  Launch launch;
  launch.interpreter = interpreter.path;
  launch.version = interpreter.version;
  Variables variables = chosen->variables;
  const std::string plan = SetThreads(threads, &variables);
  variables.SetUnlessGiven("PYTHONUNBUFFERED", "1");
  for (const char* const name : kThreadVariables) {
    const auto value = variables.Get(name);
    if (value.has_value()) launch.threads.push_back(StrCat(name, "=", *value));
    variables.Remove(name);
  }
  launch.environment = variables.list();
  launch.description = StrCat("Python ", interpreter.version, " of '", interpreter.path, "' (",
                              chosen->why, "), ", plan);
  return launch;
}

}  // namespace nereid_backend
