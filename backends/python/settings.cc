// SPDX-License-Identifier: Apache-2.0
#include "backends/python/settings.h"

#include <cstdlib>
#include <filesystem>

#include "backends/python/options.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPythonBackend = "python";

// The usual place for caches. Empty where there is no home directory.
std::string DefaultCache(const Variables& variables) {
  const std::string chosen = variables.Get("XDG_CACHE_HOME").value_or("");
  if (!chosen.empty() && chosen[0] == '/') return chosen + "/nereid/python";
  const std::string home = variables.Get("HOME").value_or("");
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/nereid/python";
}

// Reads the folders of the backend and of its own files.
Error ReadPlaces(TRITONBACKEND_Backend* backend, const Json& cmdline, PythonSettings* settings) {
  NB_ASSIGN_OR_RETURN(const std::string folder, BackendFolder(backend));
  settings->runtime_directory = folder;
  if (settings->backend == kPythonBackend) return Error();
  settings->model_file = (fs::path(folder) / "model.py").string();
  settings->runtime_directory =
      (fs::path(cmdline["backend-directory"].AsString()) / kPythonBackend).string();
  return Error();
}

}  // namespace

Result<PythonSettings> PythonSettings::FromJson(const Json& cmdline, const Variables& variables,
                                                std::string_view backend) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadSettings(kPythonOptions, cmdline, backend));
  PythonSettings settings;
  settings.variables = variables;
  settings.backend = backend;
  settings.python = given.Text("python").value_or(settings.python);
  settings.install_requirements =
      given.Bool("install-requirements").value_or(settings.install_requirements);
  settings.fork_server = given.Bool("fork-server").value_or(settings.fork_server);
  const std::optional<std::string> cache = given.Text("requirements-cache");
  settings.requirements_cache = cache.has_value() ? *cache : DefaultCache(variables);
  settings.wheelhouse = given.Text("wheelhouse").value_or("");
  std::error_code ignored;
  if (!settings.wheelhouse.empty() && !fs::is_directory(settings.wheelhouse, ignored)) {
    return Error::InvalidArg(StrCat("backend setting 'wheelhouse' is '", settings.wheelhouse,
                                    "'; it has to be a folder with wheels"));
  }
  settings.initialize_timeout_seconds =
      given.Integer("initialize-timeout-seconds").value_or(settings.initialize_timeout_seconds);
  settings.fork_server_keep_seconds =
      given.Integer("fork-server-keep-seconds").value_or(settings.fork_server_keep_seconds);
  settings.stderr_lines = given.Integer("stderr-lines").value_or(settings.stderr_lines);
  return settings;
}

Result<PythonSettings> PythonSettings::Read(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(backend));
  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendName(backend, &name));
  NB_ASSIGN_OR_RETURN(PythonSettings settings, FromJson(cmdline, Variables::OfThisProcess(), name));
  NB_RETURN_IF_ERROR(ReadPlaces(backend, cmdline, &settings));
  settings.budget = ReadCpuBudget();
  NB_LOG_INFO(settings.backend, ": a process for each instance; ", settings.budget.Describe(),
              "; requirements.txt of models: ",
              settings.install_requirements ? "installed" : "not installed",
              settings.wheelhouse.empty() ? "" : StrCat(" (from '", settings.wheelhouse, "')"),
              "; environments are kept in '", settings.requirements_cache, "'");
  return settings;
}

}  // namespace nereid_backend
