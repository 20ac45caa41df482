// SPDX-License-Identifier: Apache-2.0
#include "backend_check/command.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <utility>

#include "backend_check/exports.h"
#include "backend_check/report.h"
#include "backend_check/trial_files.h"
#include "backend_check/trial_process.h"
#include "base/installation.h"
#include "base/status_macros.h"
#include "options/command_flags.h"
#include "options/parse.h"
#include "options/probe_target.h"

namespace nereid {

namespace {

namespace fs = std::filesystem;

constexpr int kFindings = 1;
constexpr int kCannot = 2;
constexpr char kRunner[] = "nereid-backend-check";
constexpr double kMostSeconds = 24 * 3600;
// A process from which nothing is heard for this much longer than a call may take hangs as a whole.
constexpr Duration kSilence = std::chrono::seconds(30);

struct Options {
  std::string library;
  std::string model;
  std::string input;
  Duration timeout = std::chrono::seconds(10);
  std::vector<std::string> server;  // options of the server
  bool json = false;
  bool verbose = false;
};

CommandTable TableFor(Options* o) {
  CommandTable table;
  table.name = "backend-check";
  table.summary = "exercise a backend and tell what is wrong with it";
  table.synopsis = "LIB [options]";
  table.description = {
      "Exercises the backend in the shared object LIB, .../libtriton_NAME.so: loads it, sends "
      "requests to a model, alone and together, cancels some, unloads everything, and does it "
      "again. What is wrong is told in plain words. The backend runs in processes of its own, so "
      "that it may crash or hang."};
  table.flags = {
      FolderFlag("model", &o->model,
                 "a model that the backend can serve: a folder with config.pbtxt and version "
                 "folders. Without it a model is made up: INPUT0 and OUTPUT0, FP32 [4], batches of "
                 "up to 4"),
      FileFlag("input", &o->input,
               "a request in JSON, as clients send it by HTTP; without it one is made up: ones, "
               "true, \"sample\", dimensions that vary are 1"),
      TimeoutFlag(&o->timeout, kMostSeconds, "how long one call of the backend may take"),
      PassedFlag("backend-config", "NAME,KEY=VALUE", &o->server,
                 "as the option of the server; may be repeated"),
      TurnOnFlag("json", &o->json, "print JSON"),
      TurnOnFlag("verbose", &o->verbose, "print also what backend and server write")};
  table.flags[2].aliases = {"timeout"};
  table.argument = {"LIB", StoreIn(&o->library)};
  table.exit_status = "0: no findings; 1: findings; 2: the check could not be made.";
  return table;
}

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& args) {
  Options options;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&options), args));
  if (options.library.empty()) {
    return absl::InvalidArgumentError("the file LIB of the backend is missing");
  }
  std::error_code error;
  if (!options.input.empty() && !fs::is_regular_file(options.input, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--input: there is no file '", options.input, "'"));
  }
  return options;
}

absl::StatusOr<TrialResult> RunOne(const Options& options, const std::string& runner,
                                   const char* trial) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TrialFiles> files,
                   TrialFiles::Make(options.library, options.model));
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count();
  std::vector<std::string> command = {
      runner,
      absl::StrCat("--trial=", trial),
      absl::StrCat("--library=", fs::absolute(options.library).string()),
      absl::StrCat("--folder=", files->repository(), "/", files->model()),
      absl::StrCat("--timeout-ms=", milliseconds),
      absl::StrCat("--model-repository=", files->repository()),
      "--model-control-mode=explicit",
      absl::StrCat("--load-model=", files->model()),
      absl::StrCat("--backend-directory=", files->backends())};
  if (options.model.empty()) command.push_back("--made-up");
  if (!options.input.empty()) command.push_back(absl::StrCat("--input=", options.input));
  command.insert(command.end(), options.server.begin(), options.server.end());
  return RunTrial(command, options.timeout + kSilence);
}

bool OfServer(const std::string& name) { return dlsym(RTLD_DEFAULT, name.c_str()) != nullptr; }

// All trials. A backend that does not come through the first is not tried any further.
absl::StatusOr<TrialResult> RunAll(const Options& options, const std::string& runner,
                                   std::ostream& err) {
  TrialResult all;
  const auto exports = ReadExports(options.library);
  if (absl::IsNotFound(exports.status())) return exports.status();
  if (!exports.ok()) {
    all.AddFinding("load-failed", std::string(exports.status().message()));
    return all;
  }
  CheckExports(*exports, &OfServer, &all);
  if (!all.findings.empty() && all.findings[0].id == "no-execute") return all;
  for (const char* trial : {"life", "again", "version"}) {
    ASSIGN_OR_RETURN(const TrialResult result, RunOne(options, runner, trial));
    all.Add(result);
    if (options.verbose) err << result.output;
    const bool broken = !result.cannot.empty() || !result.complete;
    const bool first = trial == std::string("life");
    if (broken && !options.verbose) err << result.output;
    if (first && (broken || !result.findings.empty())) {
      all.AddNote("the backend was not loaded again and again, because of what was found before");
      break;
    }
  }
  return all;
}

}  // namespace

CommandTable BackendCheckTable() { return DescribedBy<Options>(&TableFor); }

int BackendCheckCommand(const std::vector<std::string>& args, const std::string& nereid,
                        std::ostream& out, std::ostream& err) {
  const absl::StatusOr<Options> options = ParseOptions(args);
  if (!options.ok()) return WrongCommandLine("backend-check", options.status(), err);
  const std::string runner = InstalledFolder(nereid, "libexec") / kRunner;
  const absl::StatusOr<TrialResult> result = RunAll(*options, runner, err);
  if (!result.ok()) {
    err << "nereid backend-check: " << result.status().message() << "\n";
    return kCannot;
  }
  const std::string subject =
      absl::StrCat(options->library, ", with ",
                   options->model.empty() ? "a made-up model" : "the model " + options->model);
  out << (options->json ? BackendReportJson(options->library, *result)
                        : BackendReportText(subject, *result));
  if (!result->findings.empty()) return kFindings;
  if (result->cannot.empty()) return 0;
  err << "nereid backend-check: " << result->cannot << "\n";
  return kCannot;
}

}  // namespace nereid
