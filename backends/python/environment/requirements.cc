// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/requirements.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "backends/python/environment/built_folder.h"
#include "backends/python/environment/run_program.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Large packages come over slow networks, and some are compiled.
constexpr std::chrono::minutes kInstallLimit(30);

Result<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.is_open() && !file.bad()) return text.str();
  return Error::NotFound(StrCat("can not read '", path, "'"));
}

class Installer {
 public:
  Installer(const RequirementsFile& file, std::string folder)
      : file_(file), folder_(std::move(folder)), python_(folder_ + "/bin/python") {
    variables_ = file.variables;
    variables_.Remove("PYTHONHOME");
    variables_.Remove("VIRTUAL_ENV");
    const Result<std::string> uv = FindExecutable("uv", variables_);
    if (uv.ok()) uv_ = *uv;
  }

  Error Run() {
    const Clock::time_point start = Clock::now();
    NB_LOG_INFO("model '", file_.model, "': installing '", file_.path, "' into '", folder_, "' by ",
                uv_.empty() ? "pip" : uv_, " for Python ", file_.interpreter.version);
    NB_RETURN_IF_ERROR(MakeEnvironment());
    NB_RETURN_IF_ERROR(Step(InstallCommand()));
    const std::chrono::duration<double> seconds = Clock::now() - start;
    NB_LOG_INFO("model '", file_.model, "': installed '", file_.path, "' in ", seconds.count(),
                " s");
    return Error();
  }

 private:
  Error MakeEnvironment() {
    const std::string& interpreter = file_.interpreter.path;
    if (!uv_.empty()) {
      NB_RETURN_IF_ERROR(Step({uv_, "venv", "--python", interpreter, folder_}));
      return ShowPackagesOfInterpreter();
    }
    NB_RETURN_IF_ERROR(Step({interpreter, "-m", "venv", "--without-pip", folder_}));
    NB_RETURN_IF_ERROR(ShowPackagesOfInterpreter());
    // If the interpreter has pip, the new environment sees it too, and it installs into the new
    // one.
    if (file_.interpreter.has_pip) return Error();
    return Step({python_, "-m", "ensurepip", "--default-pip"});
  }

  std::vector<std::string> InstallCommand() const {
    std::vector<std::string> command;
    if (uv_.empty()) {
      command = {
          python_,          "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
          "--progress-bar", "off"};
    } else {
      command = {uv_, "pip", "install", "--python", python_};
    }
    if (!file_.wheelhouse.empty()) {
      command.insert(command.end(), {"--no-index", "--find-links", file_.wheelhouse});
    }
    command.insert(command.end(), {"-r", file_.path});
    return command;
  }

  // Writes a file that adds the folders of the interpreter's own packages to the new environment,
  // so that a model finds, for instance, its numpy. Newly installed packages take precedence.
  Error ShowPackagesOfInterpreter() const {
    const fs::path packages =
        fs::path(folder_) / "lib" /
        StrCat("python", file_.interpreter.major, ".", file_.interpreter.minor) / "site-packages";
    std::ofstream file(packages / "nereid_interpreter.pth");
    for (const std::string& folder : file_.interpreter.packages) file << folder << "\n";
    file.close();
    if (!file.fail()) return Error();
    return Error::Internal(StrCat("can not write into '", packages.string(), "'"));
  }

  Error Step(std::vector<std::string> arguments) {
    Program program;
    program.arguments = std::move(arguments);
    program.variables = variables_;
    program.limit = kInstallLimit;
    program.starter = file_.interpreter.path;
    program.on_line = [&](const std::string& line) {
      NB_LOG_INFO("model '", file_.model, "': ", line);
    };
    NB_ASSIGN_OR_RETURN(const ProgramEnd end, RunProgram(program));
    if (end.ok) return Error();
    std::string command;
    for (const std::string& argument : program.arguments) command += " " + argument;
    return Error::Internal(StrCat("model '", file_.model, "': '", file_.path,
                                  "' can not be installed:", command, " ", end.how,
                                  ", and wrote:\n", JoinLines(end.tail)));
  }

  const RequirementsFile& file_;
  const std::string folder_;
  const std::string python_;
  Variables variables_;
  std::string uv_;  // empty: pip
};

}  // namespace

Result<std::string> InstallRequirements(const RequirementsFile& file) {
  NB_ASSIGN_OR_RETURN(const std::string text, ReadText(file.path));
  std::error_code ignored;
  FolderRequest request;
  request.cache = file.cache;
  request.key = "installed-" + KeyOfTexts({text, file.wheelhouse, file.interpreter.version,
                                           file.interpreter.abi, file.interpreter.prefix,
                                           fs::canonical(file.interpreter.path, ignored).string()});
  request.what = StrCat("the requirements of model '", file.model, "'");
  request.make = [&](const std::string& folder) { return Installer(file, folder).Run(); };
  return GetBuiltFolder(request);
}

std::string FindRequirements(const std::string& model_directory, int64_t version) {
  const fs::path folder(model_directory);
  std::error_code ignored;
  for (const fs::path& path :
       {folder / std::to_string(version) / "requirements.txt", folder / "requirements.txt"}) {
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  return "";
}

}  // namespace nereid_backend
