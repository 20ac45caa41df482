#include "backends/python/settings.h"

#include <cstdlib>
#include <filesystem>

#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPythonBackend = "python";
constexpr int64_t kLeastSharedBytes = 1 << 20;
constexpr int64_t kLongestTimeout = 7 * 24 * 3600;

// Reads a numeric setting as the original does: whatever follows the digits is ignored.
Result<int64_t> LeadingNumber(const std::string& key, const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (end != text.c_str() && errno == 0) return value;
  return Error::InvalidArg(
      StrCat("backend setting '", key, "' is '", text, "'; it has to be a ", "number"));
}

// A setting that is checked but not used.
Error CheckUnused(const Json& cmdline, const char* key, int64_t least, const char* complaint,
                  std::string* without_effect) {
  if (!cmdline.Has(key)) return Error();
  NB_ASSIGN_OR_RETURN(const int64_t value, LeadingNumber(key, cmdline[key].AsString()));
  if (value < least) return Error::InvalidArg(StrCat(key, complaint));
  *without_effect += StrCat(without_effect->empty() ? "" : ", ", key);
  return Error();
}

// These settings have no effect here. Tensors use memory files that grow as needed;
// initialize-timeout-seconds limits the wait for a process; the calls of models need no thread
// pool.
Error CheckUnused(const Json& cmdline, std::string* without_effect) {
  NB_RETURN_IF_ERROR(CheckUnused(cmdline, "shm-default-byte-size", kLeastSharedBytes,
                                 " can't be smaller than 4 MiBs", without_effect));
  NB_RETURN_IF_ERROR(CheckUnused(cmdline, "shm-growth-byte-size", 1,
                                 " can't be smaller than or equal to zero.", without_effect));
  constexpr const char* kPrefix = "shm-region-prefix-name";
  if (cmdline.Has(kPrefix)) {
    if (cmdline[kPrefix].AsString().empty()) {
      return Error::InvalidArg(StrCat(kPrefix, " must at least contain one character."));
    }
    *without_effect += StrCat(without_effect->empty() ? "" : ", ", kPrefix);
  }
  NB_RETURN_IF_ERROR(CheckUnused(cmdline, "shm_message_queue_size", INT64_MIN, "", without_effect));
  NB_RETURN_IF_ERROR(CheckUnused(cmdline, "stub-timeout-seconds", 1,
                                 " can't be smaller than or equal to zero.", without_effect));
  return CheckUnused(cmdline, "thread-pool-size", 1, " can't be less than 1.", without_effect);
}

// The usual place for caches. Empty where there is no home directory.
std::string DefaultCache(const Variables& variables) {
  const std::string chosen = variables.Get("XDG_CACHE_HOME").value_or("");
  if (!chosen.empty() && chosen[0] == '/') return chosen + "/nereid/python";
  const std::string home = variables.Get("HOME").value_or("");
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/nereid/python";
}

Error ReadSeconds(const Json& cmdline, const char* key, int64_t least, int64_t most,
                  int64_t* value) {
  if (!cmdline.Has(key)) return Error();
  NB_ASSIGN_OR_RETURN(*value, ParseInt(StrCat("backend setting '", key, "'"),
                                       cmdline[key].AsString(), least, most));
  return Error();
}

// Reads the folders of the backend and of its own files.
Error ReadPlaces(TRITONBACKEND_Backend* backend, const Json& cmdline, PythonSettings* settings) {
  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendName(backend, &name));
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* folder = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendArtifacts(backend, &type, &folder));
  settings->backend = name;
  settings->runtime_directory = folder;
  if (settings->backend == kPythonBackend) return Error();
  settings->model_file = (fs::path(folder) / "model.py").string();
  settings->runtime_directory =
      (fs::path(cmdline["backend-directory"].AsString()) / kPythonBackend).string();
  return Error();
}

}  // namespace

Result<PythonSettings> PythonSettings::FromJson(const Json& cmdline, const Variables& variables,
                                                std::string* without_effect) {
  PythonSettings settings;
  settings.variables = variables;
  NB_RETURN_IF_ERROR(CheckUnused(cmdline, without_effect));
  if (cmdline.Has("python")) settings.python = cmdline["python"].AsString();
  if (settings.python.empty()) {
    return Error::InvalidArg("backend setting 'python' is empty; it has to name an interpreter");
  }
  if (cmdline.Has("install-requirements")) {
    NB_ASSIGN_OR_RETURN(settings.install_requirements,
                        ParseBool("backend setting 'install-requirements'",
                                  cmdline["install-requirements"].AsString()));
  }
  if (cmdline.Has("fork-server")) {
    NB_ASSIGN_OR_RETURN(settings.fork_server, ParseBool("backend setting 'fork-server'",
                                                        cmdline["fork-server"].AsString()));
  }
  settings.requirements_cache = cmdline.Has("requirements-cache")
                                    ? cmdline["requirements-cache"].AsString()
                                    : DefaultCache(variables);
  settings.wheelhouse = cmdline["wheelhouse"].AsString();
  std::error_code ignored;
  if (!settings.wheelhouse.empty() && !fs::is_directory(settings.wheelhouse, ignored)) {
    return Error::InvalidArg(StrCat("backend setting 'wheelhouse' is '", settings.wheelhouse,
                                    "'; it has to be a folder with wheels"));
  }
  NB_RETURN_IF_ERROR(ReadSeconds(cmdline, "initialize-timeout-seconds", 1, kLongestTimeout,
                                 &settings.initialize_timeout_seconds));
  NB_RETURN_IF_ERROR(ReadSeconds(cmdline, "fork-server-keep-seconds", 0, kLongestTimeout,
                                 &settings.fork_server_keep_seconds));
  NB_RETURN_IF_ERROR(ReadSeconds(cmdline, "stderr-lines", 0, 1000, &settings.stderr_lines));
  return settings;
}

Result<PythonSettings> PythonSettings::Read(TRITONBACKEND_Backend* backend) {
  NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(backend));
  std::string without_effect;
  NB_ASSIGN_OR_RETURN(PythonSettings settings,
                      FromJson(cmdline, Variables::OfThisProcess(), &without_effect));
  NB_RETURN_IF_ERROR(ReadPlaces(backend, cmdline, &settings));
  settings.budget = ReadCpuBudget();
  if (!without_effect.empty()) {
    NB_LOG_INFO(settings.backend, ": settings without effect here: ", without_effect);
  }
  NB_LOG_INFO(settings.backend, ": a process for each instance; ", settings.budget.Describe(),
              "; requirements.txt of models: ",
              settings.install_requirements ? "installed" : "not installed",
              settings.wheelhouse.empty() ? "" : StrCat(" (from '", settings.wheelhouse, "')"),
              "; environments are kept in '", settings.requirements_cache, "'");
  return settings;
}

}  // namespace nereid_backend
