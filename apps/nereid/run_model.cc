// SPDX-License-Identifier: Apache-2.0
#include "run_model.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <utility>

#include "answer_stream.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "filesystem/local_file_system.h"
#include "flags/command_line.h"
#include "model_trial.h"
#include "options/command_flags.h"
#include "options/parse.h"
#include "server/server.h"
#include "what_to_serve.h"

namespace nereid {

namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kCannot = 2;
constexpr int kMostRequests = 1'000'000;

struct Options {
  std::string directory;
  std::string input;
  int count = 1;
  std::vector<std::string> server;  // options of the server
};

CommandTable TableFor(Options* o) {
  Flag verbose = {"verbose", "", "", "write everything to the log", [o](absl::string_view) {
                    o->server.push_back("--log-verbose=1");
                    return absl::OkStatus();
                  }};
  CommandTable table;
  table.name = "run-model";
  table.summary = "load one model and try it, without opening a port";
  table.synopsis = "DIR [options]";
  table.description = {
      "Loads the model in the folder DIR (with config.pbtxt and version folders, as in a model "
      "repository), sends it a request and prints what it answers. No port is opened. The log, and "
      "what the model itself writes, goes to standard error."};
  table.flags = {
      FileFlag("input", &o->input,
               "a request in JSON, as clients send it by HTTP; without it one is made up: ones, "
               "true, \"sample\", dimensions that vary are 1"),
      WholeFlag("count", &o->count, 1, kMostRequests,
                "so many times; of a model with sequences, N requests of one"),
      PassedFlag("load-model", "NAME", &o->server,
                 "load this model of the same folder, too; may be repeated"),
      PassedFlag("backend-directory", "DIR", &o->server, "as the option of the server"),
      PassedFlag("backend-config", "NAME,KEY=VALUE", &o->server,
                 "as the option of the server; may be repeated"),
      std::move(verbose)};
  table.argument = {"DIR", StoreIn(&o->directory)};
  table.exit_status =
      "0: every response is good; 1: the model does not load, or a response is an error; 2: wrong "
      "options.";
  return table;
}

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& args) {
  Options options;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&options), args));
  if (!options.directory.empty()) return options;
  return absl::InvalidArgumentError("the folder DIR of the model is missing");
}

absl::StatusOr<std::string> ReadInput(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.str().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--input: '", path, "' cannot be read, or is empty"));
  }
  return text.str();
}

// A repository has to be told from the folder of one of its models, and a version's folder, too.
absl::Status CheckIsModel(const std::string& directory) {
  const LocalFileSystem files;
  const std::string why = WhyNothingToServe(files, directory);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  const std::string model = FirstModelIn(files, directory);
  if (model.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", directory, "' is a repository; the folder of one model in it is '",
                   JoinPath(directory, model), "'"));
}

// Settings to load only the given model of its repository. Returns the model's name.
absl::StatusOr<std::string> SetUp(const Options& options, Settings* settings) {
  std::error_code error;
  const fs::path directory = fs::canonical(options.directory, error);
  if (error || !fs::is_directory(directory, error)) {
    return absl::InvalidArgumentError(absl::StrCat("there is no folder '", options.directory, "'"));
  }
  RETURN_IF_ERROR(CheckIsModel(options.directory));
  const std::string name = directory.filename().string();
  std::vector<std::string> args = {
      absl::StrCat("--model-repository=", directory.parent_path().string()),
      "--model-control-mode=explicit", absl::StrCat("--load-model=", name)};
  args.insert(args.end(), options.server.begin(), options.server.end());
  RETURN_IF_ERROR(ParseCommandLine(args, settings));
  settings->server.log_tables = false;
  settings->server.cpu_metrics = false;
  settings->server.exit_on_error = false;  // errors are reported below, in full
  // People read tracebacks here, so they may take several lines.
  settings->log.escape_messages = false;
  RETURN_IF_ERROR(Log::Configure(settings->log));
  return name;
}

// False, with the reason, if a requested model does not exist.
bool AllLoaded(const Server& server, std::ostream& err) {
  const auto index = server.RepositoryIndex(/*ready_only=*/false);
  if (!index.ok()) {
    err << "nereid run-model: " << index.status().message() << "\n";
    return false;
  }
  bool good = true;
  for (const IndexEntry& entry : *index) {
    if (entry.state.empty() || entry.state == "READY") continue;
    good = false;
    err << "nereid run-model: '" << entry.name << "' is " << entry.state << ": " << entry.reason
        << "\n";
  }
  return good;
}

bool HasSequences(const Server& server, const std::string& model) {
  const auto config = server.ModelConfigJson(model, kLatestVersion);
  return config.ok() && absl::StrContains(*config, "\"sequence_batching\":");
}

int TryModel(const Options& options, const std::string& name, std::string json,
             const ServerOptions& server_options, std::ostream& out, std::ostream& err) {
  absl::StatusOr<Server::Owner> server = Server::Create(server_options);
  if (!server.ok()) {
    err << "nereid run-model: " << server.status().message() << "\n";
    return kFailed;
  }
  if (!AllLoaded(**server, err)) return kFailed;
  ModelTrial::Plan plan;
  plan.model = name;
  plan.json = std::move(json);
  plan.count = options.count;
  plan.sequence = HasSequences(**server, name);
  const absl::StatusOr<bool> good = ModelTrial(server->get(), &out).Run(plan);
  if (!good.ok()) err << "nereid run-model: " << good.status().message() << "\n";
  const absl::Status stopped = (*server)->Stop();
  if (!stopped.ok()) err << "nereid run-model: " << stopped.message() << "\n";
  return good.ok() && *good && stopped.ok() ? 0 : kFailed;
}

}  // namespace

CommandTable RunModelTable() { return DescribedBy<Options>(&TableFor); }

int RunModelCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                    std::ostream& err) {
  const absl::StatusOr<Options> options = ParseOptions(args);
  if (!options.ok()) return WrongCommandLine("run-model", options.status(), err);
  absl::StatusOr<std::string> json = ReadInput(options->input);
  const absl::StatusOr<std::string> name =
      json.ok() ? SetUp(*options, &settings) : absl::StatusOr<std::string>(json.status());
  if (!name.ok()) {
    err << "nereid run-model: " << name.status().message() << "\n";
    return kCannot;
  }
  out.flush();
  AnswerStream answers;
  return TryModel(*options, *name, *std::move(json), settings.server, answers.stream(), err);
}

}  // namespace nereid
