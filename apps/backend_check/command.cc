#include "backend_check/command.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <utility>

#include "backend_check/exports.h"
#include "backend_check/report.h"
#include "backend_check/trial_files.h"
#include "backend_check/trial_process.h"
#include "base/status_macros.h"

namespace nereid {

const char kBackendCheckUsage[] =
    "Usage: nereid backend-check [options] LIB\n"
    "\n"
    "Exercises the backend in the shared object LIB, .../libtriton_NAME.so: loads it, sends\n"
    "requests to a model, alone and together, cancels some, unloads everything, and does it "
    "again.\n"
    "What is wrong is told in plain words. The backend runs in processes of its own, so that it "
    "may\n"
    "crash or hang.\n"
    "\n"
    "  --model=FOLDER                  a model that the backend can serve: a folder with\n"
    "                                  config.pbtxt and version folders. Without it a model is "
    "made\n"
    "                                  up: INPUT0 and OUTPUT0, FP32 [4], batches of up to 4\n"
    "  --input=FILE                    a request in JSON, as clients send it by HTTP; without it "
    "one\n"
    "                                  is made up: ones, true, \"sample\", dimensions that vary "
    "are 1\n"
    "  --timeout=SECONDS               how long one call of the backend may take; default: 10\n"
    "  --backend-config=NAME,KEY=VALUE\n"
    "                                  as the option of the server\n"
    "  --json                          print JSON\n"
    "  --verbose                       print also what backend and server write\n"
    "\n"
    "Exit status: 0: no findings; 1: findings; 2: the check could not be made.\n";

namespace {

namespace fs = std::filesystem;

constexpr int kFindings = 1;
constexpr int kCannot = 2;
constexpr char kRunner[] = "libexec/nereid-backend-check";  // beside the installation's backends
constexpr double kMostSeconds = 24 * 3600;
// A process from which nothing is heard for this much longer than a call may take hangs as a whole.
constexpr Duration kSilence = std::chrono::seconds(30);

struct Options {
  std::string library;
  std::string model;
  std::string input;
  double timeout_seconds = 10;
  std::vector<std::string> server;  // options of the server
  bool json = false;
  bool verbose = false;
};

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& args) {
  Options options;
  for (const std::string& arg : args) {
    absl::string_view value = arg;
    if (arg == "--json") {
      options.json = true;
    } else if (arg == "--verbose") {
      options.verbose = true;
    } else if (absl::ConsumePrefix(&value, "--model=")) {
      options.model = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--input=")) {
      options.input = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--timeout=")) {
      if (!absl::SimpleAtod(value, &options.timeout_seconds) || !(options.timeout_seconds > 0) ||
          options.timeout_seconds > kMostSeconds) {
        return absl::InvalidArgumentError(
            absl::StrCat("--timeout is '", value, "'; it has to be a number of seconds above 0"));
      }
    } else if (absl::StartsWith(arg, "--backend-config=")) {
      options.server.push_back(arg);
    } else if (absl::StartsWith(arg, "-")) {
      return absl::InvalidArgumentError(absl::StrCat("unknown option ", arg));
    } else if (!options.library.empty()) {
      return absl::InvalidArgumentError("only one LIB may be given");
    } else {
      options.library = arg;
    }
  }
  if (options.library.empty()) return absl::InvalidArgumentError("no LIB is given");
  std::error_code error;
  if (!options.input.empty() && !fs::is_regular_file(options.input, error)) {
    return absl::InvalidArgumentError(absl::StrCat("--input: '", options.input, "' is no file"));
  }
  return options;
}

absl::StatusOr<TrialResult> RunOne(const Options& options, const std::string& runner,
                                   const char* trial) {
  ASSIGN_OR_RETURN(const std::unique_ptr<TrialFiles> files,
                   TrialFiles::Make(options.library, options.model));
  const Duration timeout =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.timeout_seconds));
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
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
  return RunTrial(command, timeout + kSilence);
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

int BackendCheckCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                        std::ostream& err) {
  const absl::StatusOr<Options> options = ParseOptions(args);
  if (!options.ok()) {
    err << "nereid backend-check: " << options.status().message() << "\n" << kBackendCheckUsage;
    return kCannot;
  }
  const fs::path plugins = fs::path(settings.server.backend_directory).parent_path();
  const absl::StatusOr<TrialResult> result = RunAll(*options, (plugins / kRunner).string(), err);
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
