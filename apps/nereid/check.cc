#include "check.h"

#include <absl/strings/match.h>
#include <absl/strings/strip.h>

#include <ostream>

#include "backend_options.h"
#include "filesystem/local_file_system.h"
#include "lifecycle/repository_check.h"
#include "repository/single_model.h"

namespace nereid {

const char kCheckUsage[] =
    "Usage: nereid check [options] DIR...\n"
    "\n"
    "Checks model repositories without loading a model, and prints every model's configuration as\n"
    "it would be, each value that is not in the file with the reason why it is there.\n"
    "\n"
    "  --json                          print JSON\n"
    "  --single-model-name=NAME        the name of a model whose folder is a DIR itself\n"
    "  --model-config-name=NAME        use configs/NAME.pbtxt of a model where it exists\n"
    "  --backend-directory=DIR         every model's backend has to be in DIR, or with the model\n"
    "  --disable-auto-complete-config  complete nothing, as the server's option of this name\n"
    "  --model-namespacing             models of the same name in several DIRs are no problem\n"
    "\n"
    "Exit status: 0: no problems; 1: problems; 2: the repositories could not be checked.\n";

namespace {

constexpr int kProblems = 1;
constexpr int kCannot = 2;

}  // namespace

int CheckCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                 std::ostream& err) {
  CheckOptions options;
  options.backend_directory = settings.server.backend_directory;
  options.check_parameters = &CheckParametersByTable;
  std::string single_model_name;
  bool json = false;
  for (const std::string& arg : args) {
    absl::string_view value = arg;
    if (arg == "--json") {
      json = true;
    } else if (arg == "--disable-auto-complete-config") {
      options.auto_complete_config = false;
    } else if (arg == "--model-namespacing") {
      options.layout.namespacing = true;
    } else if (absl::ConsumePrefix(&value, "--single-model-name=")) {
      single_model_name = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--model-config-name=")) {
      options.model_config_name = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--backend-directory=")) {
      options.backend_directory = std::string(value);
      options.backends_required = true;
    } else if (absl::StartsWith(arg, "-")) {
      err << "nereid check: unknown option " << arg << "\n" << kCheckUsage;
      return kCannot;
    } else {
      options.layout.repositories.insert(arg);
    }
  }
  if (options.layout.repositories.empty()) {
    err << kCheckUsage;
    return kCannot;
  }
  const LocalFileSystem files;
  FindSingleModels(files, single_model_name, &options.layout);
  const auto models = CheckRepositories(files, options);
  if (!models.ok()) {
    err << "nereid check: " << models.status().message() << "\n";
    return kCannot;
  }
  out << (json ? ToJson(*models) + "\n" : ToText(*models));
  return CountProblems(*models) == 0 ? 0 : kProblems;
}

}  // namespace nereid
