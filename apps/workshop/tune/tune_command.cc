// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_command.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <ostream>

#include "base/installation.h"
#include "base/status_macros.h"
#include "bench/live_line.h"
#include "bench/measuring_process.h"
#include "options/parse.h"
#include "simulation/pipeline.h"
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

absl::StatusOr<PrivateModel> ModelOf(const TuneOptions& options, const std::string& nereid) {
  std::error_code error;
  PrivateModel model;
  model.program = nereid;
  model.repository = std::filesystem::absolute(options.repository, error).string();
  model.name = options.model;
  model.load_models = options.load_models;
  model.options = options.server_options;
  model.backend_directory = options.backend_directory.empty()
                                ? InstalledFolder(model.program, "backends").string()
                                : options.backend_directory;
  if (model.name.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", model.name, "' is not the name of a model: it contains a slash"));
  }
  return model;
}

// The models whose configurations are varied: the model itself, or those of an ensemble's steps.
std::vector<std::string> ModelsToTune(const PrivateModel& model, bool* ensemble) {
  const std::string folder = absl::StrCat(model.repository, "/", model.name);
  const absl::StatusOr<CompiledModel> config = ModelFromFolder(model.name, folder);
  *ensemble = config.ok() && !config->ensemble.steps.empty();
  if (*ensemble) return ModelsOfSteps(config->ensemble);
  return {model.name};
}

absl::StatusOr<std::vector<ConfigText>> ReadConfigs(const PrivateModel& model,
                                                    const std::vector<std::string>& names,
                                                    bool to_write) {
  std::vector<ConfigText> configs;
  for (const std::string& name : names) {
    ConfigText& config = configs.emplace_back();
    config.model = name;
    config.folder = absl::StrCat(model.repository, "/", name);
    ASSIGN_OR_RETURN(config.text, ReadConfigFile(config.folder, to_write));
  }
  return configs;
}

absl::StatusOr<TuneResult> RunTuning(const TuneOptions& options, const PrivateModel& model,
                                     const std::vector<ConfigText>& today, bool ensemble,
                                     std::ostream& err) {
  bench::LiveLine line(err);
  MeasuringHooks hooks;
  hooks.interrupted = [] { return bench::Interrupted(); };
  hooks.progress = [&line](const std::string& text) { line.Show(text); };
  return Tuning(options, model, today, ensemble, hooks).Run();
}

// What changes, file by file.
std::string DiffOf(const std::vector<ConfigText>& today, const std::vector<ConfigText>& changed) {
  std::string text;
  for (size_t i = 0; i < today.size(); ++i) {
    const std::string diff = TextDiff(today[i].text, changed[i].text);
    if (diff.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n", today[i].path(), ":\n", diff);
  }
  return text;
}

absl::Status Write(const std::vector<ConfigText>& today, const std::vector<ConfigText>& changed) {
  for (size_t i = 0; i < today.size(); ++i) {
    if (today[i].text == changed[i].text) continue;
    RETURN_IF_ERROR(ReplaceConfigFile(changed[i].folder, changed[i].text));
  }
  return absl::OkStatus();
}

absl::Status Tune(const TuneOptions& options, const std::string& nereid, std::ostream& out,
                  std::ostream& err) {
  ASSIGN_OR_RETURN(const PrivateModel model, ModelOf(options, nereid));
  bool ensemble = false;
  ASSIGN_OR_RETURN(const std::vector<ConfigText> today,
                   ReadConfigs(model, ModelsToTune(model, &ensemble), options.apply));
  ASSIGN_OR_RETURN(const TuneResult result, RunTuning(options, model, today, ensemble, err));
  ASSIGN_OR_RETURN(
      const std::vector<ConfigText> changed,
      WithConfiguration(today, result.compiled, result.all[result.chosen].configuration));
  const std::string diff = DiffOf(today, changed);
  out << TuneText(options, result);
  if (!diff.empty()) out << "\n" << diff;
  RETURN_IF_ERROR(bench::WriteReport(
      options.html_file, options.html_file.empty() ? "" : TuneHtml(options, result, diff)));
  if (diff.empty()) return absl::OkStatus();
  if (!options.apply) {
    out << "\nNothing is changed; --apply writes it.\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Write(today, changed));
  out << "\nWritten. A server that serves "
      << (ensemble ? "these models has to load them again.\n"
                   : "the model has to load it again.\n");
  return absl::OkStatus();
}

int Fail(const absl::Status& status, int exit_status, std::ostream& err) {
  err << "nereid tune: " << status.message() << "\n";
  return exit_status;
}

}  // namespace

int TuneCommand(const std::vector<std::string>& args, const std::string& nereid, std::ostream& out,
                std::ostream& err) {
  const absl::StatusOr<TuneOptions> options = ParseTuneOptions(args);
  if (!options.ok()) return WrongCommandLine("tune", options.status(), err);
  bench::PrepareToMeasure();
  const absl::Status tuned = Tune(*options, nereid, out, err);
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
