#include "tune/tune_command.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "base/status_macros.h"
#include "bench/live_line.h"
#include "bench/measuring_process.h"
#include "config/edit_text.h"
#include "simulation/simulated_config.h"
#include "tune/config_file.h"
#include "tune/text_diff.h"
#include "tune/tune_options.h"
#include "tune/tune_text.h"
#include "tune/tuning.h"

namespace nereid {
namespace {

constexpr int kGood = 0;
constexpr int kFailed = 1;
constexpr int kWrong = 2;

absl::StatusOr<PrivateModel> ModelOf(const TuneOptions& options) {
  std::error_code error;
  PrivateModel model;
  model.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return absl::InternalError("the path of this program is not known");
  model.repository = std::filesystem::absolute(options.repository, error).string();
  model.name = options.model;
  model.load_models = options.load_models;
  model.options = options.server_options;
  if (model.name.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", model.name, "' is no name of a model: it has a slash"));
  }
  return model;
}

// An ensemble's private copy would lack the models of its steps, so it is refused before.
absl::Status RefuseEnsemble(const PrivateModel& model) {
  const absl::StatusOr<CompiledModel> config = ModelFromFolder(model.name, model.folder());
  if (!config.ok() || config->ensemble.steps.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the model '", model.name,
                   "' is an ensemble, which has no instances; tune the models of its steps"));
}

absl::StatusOr<TuneResult> RunTuning(const TuneOptions& options, const PrivateModel& model,
                                     const std::string& config, std::ostream& err) {
  bench::LiveLine line(err);
  MeasuringHooks hooks;
  hooks.interrupted = [] { return bench::Interrupted(); };
  hooks.progress = [&line](const std::string& text) { line.Show(text); };
  return Tuning(options, model, config, hooks).Run();
}

absl::Status Tune(const TuneOptions& options, std::ostream& out, std::ostream& err) {
  ASSIGN_OR_RETURN(const PrivateModel model, ModelOf(options));
  ASSIGN_OR_RETURN(const std::string config, ReadConfigFile(model.folder(), options.apply));
  RETURN_IF_ERROR(RefuseEnsemble(model));
  ASSIGN_OR_RETURN(const TuneResult result, RunTuning(options, model, config, err));
  const ConfigChanges changes =
      ChangesOf(result.all[0].candidate, result.all[result.chosen].candidate);
  ASSIGN_OR_RETURN(const std::string changed,
                   EditConfigText(model.folder() + "/config.pbtxt", config, changes));
  const std::string diff = TextDiff(config, changed);
  out << TuneText(options, result);
  if (!diff.empty()) out << "\n" << model.folder() << "/config.pbtxt:\n" << diff;
  RETURN_IF_ERROR(bench::WriteReport(
      options.html_file, options.html_file.empty() ? "" : TuneHtml(options, result, diff)));
  if (diff.empty()) return absl::OkStatus();
  if (!options.apply) {
    out << "\nNothing is changed; --apply writes it.\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(ReplaceConfigFile(model.folder(), changed));
  out << "\nWritten. A server that serves the model has to load it again.\n";
  return absl::OkStatus();
}

int Fail(const absl::Status& status, int exit_status, std::ostream& err) {
  err << "nereid tune: " << status.message() << "\n";
  return exit_status;
}

}  // namespace

int TuneCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<TuneOptions> options = ParseTuneOptions(args);
  if (!options.ok()) {
    Fail(options.status(), kWrong, err);
    err << "`nereid tune --help` lists the options.\n";
    return kWrong;
  }
  if (options->help) {
    out << kTuneUsage;
    return kGood;
  }
  bench::PrepareToMeasure();
  const absl::Status tuned = Tune(*options, out, err);
  out.flush();
  if (tuned.ok()) return kGood;
  if (absl::IsCancelled(tuned)) {
    err << "nereid tune: interrupted"
        << (options->state_file.empty()
                ? "\n"
                : absl::StrCat("; the same command goes on with what is in ", options->state_file,
                               "\n"));
    return kFailed;
  }
  return Fail(tuned, absl::IsInvalidArgument(tuned) ? kWrong : kFailed, err);
}

}  // namespace nereid
