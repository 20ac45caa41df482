// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/interpreter.h"

#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "backends/python/environment/run_program.h"
#include "backends/sdk/json.h"

namespace nereid_backend {
namespace {

constexpr std::chrono::seconds kAskLimit(60);  // a network file system may be slow at first
constexpr const char* kMark = "nereid-interpreter ";

// Looks for packages without importing them. Python puts the working directory first in sys.path;
// it is removed, because a model does not see it.
constexpr const char* kQuestion =
    "import sys\n"
    "sys.path[:1]=[]\n"
    "import importlib.util,json,sysconfig\n"
    "print('nereid-interpreter '+json.dumps({"
    "'major':sys.version_info[0],'minor':sys.version_info[1],"
    "'version':'%d.%d.%d'%sys.version_info[:3],"
    "'abi':sysconfig.get_config_var('SOABI') or '',"
    "'executable':sys.executable or '',"
    "'prefix':sys.prefix,"
    "'packages':[p for p in sys.path if p.endswith('-packages')],"
    "'free_threaded':bool(sysconfig.get_config_var('Py_GIL_DISABLED')),"
    "'has_pip':importlib.util.find_spec('pip') is not None,"
    "'has_numpy':importlib.util.find_spec('numpy') is not None}))\n";

bool IsExecutableFile(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// The key changes when the file is replaced or when other packages become visible.
std::string KeyOf(const std::string& path, const Variables& variables) {
  struct stat status {};
  std::string key = path;
  if (stat(path.c_str(), &status) == 0) {
    key += StrCat("|", status.st_ino, "|", status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec);
  }
  for (const char* name :
       {"PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "HOME"}) {
    key += StrCat("|", variables.Get(name).value_or(""));
  }
  return key;
}

Interpreter FromJson(const std::string& path, const Json& json) {
  Interpreter interpreter;
  // The program at `path` may be a script that starts an interpreter somewhere else.
  interpreter.path = json["executable"].AsString();
  if (interpreter.path.empty()) interpreter.path = path;
  interpreter.major = static_cast<int>(json["major"].AsInt());
  interpreter.minor = static_cast<int>(json["minor"].AsInt());
  interpreter.version = json["version"].AsString();
  interpreter.abi = json["abi"].AsString();
  interpreter.prefix = json["prefix"].AsString();
  for (const Json& folder : json["packages"].items()) {
    interpreter.packages.push_back(folder.AsString());
  }
  interpreter.free_threaded = json["free_threaded"].AsBool();
  interpreter.has_pip = json["has_pip"].AsBool();
  interpreter.has_numpy = json["has_numpy"].AsBool();
  return interpreter;
}

}  // namespace

Error CheckSupported(const Interpreter& interpreter) {
  const bool known = interpreter.major == 3 && interpreter.minor >= kOldestMinor &&
                     interpreter.minor <= kNewestMinor;
  if (known && !interpreter.free_threaded) return Error();
  const char* const without = " without the global interpreter lock";
  return Error::Unsupported(
      StrCat("'", interpreter.path, "' is Python ", interpreter.version,
             interpreter.free_threaded ? without : "", "; models run in Python 3.", kOldestMinor,
             " to 3.", kNewestMinor, interpreter.free_threaded ? " with that lock" : ""));
}

Result<std::string> FindExecutable(const std::string& name, const Variables& variables) {
  if (name.find('/') != std::string::npos) {
    if (IsExecutableFile(name)) return name;
    return Error::NotFound(StrCat("'", name, "' is no file that can be run"));
  }
  const std::string path = variables.Get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = StrCat(folder.empty() ? "." : folder, "/", name);
    if (IsExecutableFile(candidate)) return candidate;
  }
  return Error::NotFound(StrCat("there is no '", name, "' on the PATH, which is '", path, "'"));
}

Result<Interpreter> InterpreterTable::Ask(const std::string& path, const Variables& variables) {
  const std::string key = KeyOf(path, variables);
  {
    const std::lock_guard<std::mutex> lock(mu_);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
  }
  std::string said;
  Program program;
  program.arguments = {path, "-c", kQuestion};
  program.variables = variables;
  program.limit = kAskLimit;
  program.on_line = [&](const std::string& line) {
    if (line.rfind(kMark, 0) == 0) said = line.substr(std::string(kMark).size());
  };
  NB_ASSIGN_OR_RETURN(const ProgramEnd end, RunProgram(program));
  Result<Json> json = Json::Parse(said);
  if (!end.ok || !json.ok()) {
    return Error(
        TRITONSERVER_ERROR_UNAVAILABLE,
        StrCat("'", path, "' is no Python interpreter that runs: asked for its version it ",
               end.how, ", and wrote:\n", JoinLines(end.tail)));
  }
  Interpreter interpreter = FromJson(path, *json);
  if (interpreter.has_numpy) {
    const std::lock_guard<std::mutex> lock(mu_);
    known_[key] = interpreter;
  }
  return interpreter;
}

}  // namespace nereid_backend
