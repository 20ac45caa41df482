// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <ostream>

#include "backend_options.h"
#include "filesystem/local_file_system.h"
#include "lifecycle/repository_check.h"
#include "options/command_flags.h"
#include "options/parse.h"
#include "repository/single_model.h"
#include "what_to_serve.h"

namespace nereid {

namespace {

constexpr int kProblems = 1;
constexpr int kCannot = 2;
constexpr int kMostGpus = 64;
constexpr double kMostBytes = 1e15;

// What the setters fill.
struct CheckLine {
  CheckOptions options;
  std::string single_model_name;
  bool json = false;
};

CommandTable TableFor(CheckLine* line) {
  CheckOptions* const o = &line->options;
  const FlagSetter repository = [o](absl::string_view text) {
    o->layout.repositories.insert(std::string(text));
    return absl::OkStatus();
  };
  CommandTable table;
  table.name = "check";
  table.summary = "check model repositories without loading a model";
  table.synopsis = "DIR... [options]";
  table.description = {
      "Checks model repositories without loading a model, and prints every model's configuration "
      "as it would be, each value that is not in the file with the reason why it is there."};
  table.flags = {
      {"model-repository", "DIR", "", "a repository, as DIR; may be repeated", repository},
      TurnOnFlag("json", &line->json, "print JSON"),
      NameFlag("single-model-name", &line->single_model_name,
               "the name of a model whose folder is a DIR itself"),
      NameFlag("model-config-name", &o->model_config_name,
               "use configs/NAME.pbtxt of a model where it exists"),
      {"backend-directory", "DIR", "", "every model's backend has to be in DIR, or with the model",
       [o](absl::string_view text) {
         o->backend_directory = std::string(text);
         o->backends_required = true;
         return absl::OkStatus();
       }},
      {"disable-auto-complete-config", "", "",
       "complete nothing, as the server's option of this name",
       [o](absl::string_view) {
         o->auto_complete_config = false;
         return absl::OkStatus();
       }},
      WholeFlag("gpus", &o->gpus, 0, kMostGpus,
                "the machine that is to serve has N GPUs, numbered from 0"),
      WholeFlag("memory-budget", &o->memory_budget, 0, kMostBytes,
                "the server is to load models on demand and has this option, of N bytes"),
      TurnOnFlag("model-namespacing", &o->layout.namespacing,
                 "models of the same name in several DIRs are no problem")};
  table.flags[0].repeated = true;
  table.argument = {"DIR", repository, /*repeated=*/true};
  table.exit_status = "0: no problems; 1: problems; 2: the repositories could not be checked.";
  return table;
}

}  // namespace

CommandTable CheckTable() { return DescribedBy<CheckLine>(&TableFor); }

int CheckCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                 std::ostream& err) {
  CheckLine line;
  CheckOptions& options = line.options;
  options.backend_directory = settings.server.backend_directory;
  options.check_parameters = &CheckParametersByTable;
  absl::Status parsed = ParseCommandArguments(TableFor(&line), args);
  if (parsed.ok() && options.layout.repositories.empty()) {
    parsed = absl::InvalidArgumentError("the folder DIR of a model repository is missing");
  }
  if (!parsed.ok()) return WrongCommandLine("check", parsed, err);
  const LocalFileSystem files;
  for (const std::string& repository : options.layout.repositories) {
    const std::string why = WhyNothingToServe(files, repository);
    if (!why.empty()) err << "nereid check: " << why << "\n";
  }
  FindSingleModels(files, line.single_model_name, &options.layout);
  const auto models = CheckRepositories(files, options);
  if (!models.ok()) {
    err << "nereid check: " << models.status().message() << "\n";
    return kCannot;
  }
  out << (line.json ? ToJson(*models) + "\n" : ToText(*models));
  return CountProblems(*models) == 0 ? 0 : kProblems;
}

}  // namespace nereid
