// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <map>
#include <set>
#include <string>

#include "config/normalize.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using inference::ModelEnsembling;

std::string StepField(int step) { return absl::StrCat("ensemble_scheduling.step[", step, "]"); }

// The tensors of an ensemble and how its steps connect them. Lives for one check.
class EnsembleGraph {
 public:
  EnsembleGraph(const inference::ModelConfig& config, Diagnostics* diagnostics)
      : config_(config), diagnostics_(*diagnostics) {}

  void Check() {
    const auto& steps = config_.ensemble_scheduling().step();
    for (int i = 0; i < steps.size(); ++i) AddStep(i, steps[i]);
    FindReachable();
    for (int i = 0; i < config_.input_size(); ++i) CheckInput(i);
    for (int i = 0; i < config_.output_size(); ++i) CheckOutput(i);
    CheckIntermediates();
  }

 private:
  void AddStep(int index, const ModelEnsembling::Step& step) {
    for (const auto& [input, tensor] : step.input_map()) read_.insert(tensor);
    for (const auto& [output, tensor] : step.output_map()) {
      if (writer_.emplace(tensor, index).second) continue;
      diagnostics_.Add(absl::StrCat(StepField(index), ".output_map"),
                       absl::StrCat("ensemble tensor '", tensor,
                                    "' can appear in an output map only once for ensemble '",
                                    config_.name(), "' step ", index),
                       "give the output another tensor name");
    }
  }

  // A tensor is reachable if it is an input of the ensemble, or written by a step all of whose
  // inputs are reachable.
  void FindReachable() {
    for (const inference::ModelInput& input : config_.input()) reachable_.insert(input.name());
    size_t before = 0;
    do {
      before = reachable_.size();
      for (const ModelEnsembling::Step& step : config_.ensemble_scheduling().step()) {
        if (!FirstUnreachable(step).empty()) continue;
        for (const auto& [output, tensor] : step.output_map()) reachable_.insert(tensor);
      }
    } while (reachable_.size() != before);
  }

  // The (alphabetically) first input of a step that is not reachable, or "".
  std::string FirstUnreachable(const ModelEnsembling::Step& step) const {
    std::string first;
    for (const auto& [input, tensor] : step.input_map()) {
      if (reachable_.count(tensor) != 0) continue;
      if (first.empty() || tensor < first) first = tensor;
    }
    return first;
  }

  void CheckInput(int index) {
    const std::string& name = config_.input(index).name();
    if (read_.count(name) != 0) return;
    diagnostics_.Add(
        absl::StrCat("input[", index, "]"),
        absl::StrCat("ensemble input '", name, "' for ensemble ", config_.name(), "' is not used"),
        "name it in the input_map of a step");
  }

  void CheckOutput(int index) {
    const std::string& name = config_.output(index).name();
    const std::string field = absl::StrCat("output[", index, "]");
    const auto writer = writer_.find(name);
    if (writer == writer_.end() && read_.count(name) == 0) {
      diagnostics_.Add(field,
                       absl::StrCat("ensemble output '", name, "' for ensemble ", config_.name(),
                                    "' is not used"),
                       "name it in the output_map of a step");
      return;
    }
    if (reachable_.count(name) != 0) return;
    std::string text =
        absl::StrCat("output '", name, "' for ensemble '", config_.name(), "' is not written");
    if (writer != writer_.end()) {
      absl::StrAppend(&text, ": at least one of its depending tensors, '",
                      FirstUnreachable(config_.ensemble_scheduling().step(writer->second)),
                      "', is not connected");
    }
    diagnostics_.Add(field, text,
                     "every input of the steps that lead to it must be an input of "
                     "the ensemble or be written by a step");
  }

  void CheckIntermediates() {
    std::set<std::string> outputs;
    for (const inference::ModelOutput& output : config_.output()) outputs.insert(output.name());
    for (const auto& [tensor, step] : writer_) {
      if (read_.count(tensor) != 0 || outputs.count(tensor) != 0) continue;
      diagnostics_.Add(absl::StrCat(StepField(step), ".output_map"),
                       absl::StrCat("ensemble tensor '", tensor, "' is unused in ensemble '",
                                    config_.name(), "'"),
                       "remove it, or use it in an input_map or as output");
    }
  }

  const inference::ModelConfig& config_;
  Diagnostics& diagnostics_;
  std::set<std::string> read_;         // tensors in some input_map
  std::map<std::string, int> writer_;  // tensor -> first step that has it in its output_map
  std::set<std::string> reachable_;
};

// True if the steps are complete enough to check how they are connected.
bool CheckSteps(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const auto& steps = config.ensemble_scheduling().step();
  const std::string ensemble = absl::StrCat("ensemble '", config.name(), "'");
  if (steps.empty()) {
    diagnostics->Add("ensemble_scheduling.step", absl::StrCat("must specify 'step' for ", ensemble),
                     "at least one");
    return false;
  }
  bool complete = true;
  for (int i = 0; i < steps.size(); ++i) {
    const auto require = [&](const char* name, bool present) {
      if (present) return;
      complete = false;
      diagnostics->Add(absl::StrCat(StepField(i), ".", name),
                       absl::StrCat("must specify '", name, "' in step ", i, " of ", ensemble),
                       "it may not be empty");
    };
    require("model_name", !steps[i].model_name().empty());
    require("input_map", !steps[i].input_map().empty());
    require("output_map", !steps[i].output_map().empty());
  }
  return complete;
}

void CheckForbiddenFields(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const std::string ensemble = absl::StrCat("ensemble '", config.name(), "'");
  constexpr char kHint[] = "set it in the composing models";
  if (!config.instance_group().empty()) {
    diagnostics->Add("instance_group",
                     absl::StrCat("instance group should not be specified for ", ensemble), kHint);
  }
  if (config.has_optimization()) {
    diagnostics->Add("optimization",
                     absl::StrCat("optimization should not be specified for ", ensemble), kHint);
  }
  if (!config.model_warmup().empty()) {
    diagnostics->Add("model_warmup",
                     absl::StrCat("model_warmup can not be specified for ", ensemble), kHint);
  }
}

}  // namespace

void CheckEnsemble(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const bool is_ensemble = config.platform() == kEnsemblePlatform;
  if (!config.has_ensemble_scheduling()) {
    if (!is_ensemble) return;
    diagnostics->Add("ensemble_scheduling",
                     absl::StrCat("ensemble scheduling must be set for ensemble ", config.name(),
                                  " whose platform is ensemble"),
                     "list the steps");
    return;
  }
  if (!is_ensemble) {
    diagnostics->Add("ensemble_scheduling",
                     absl::StrCat("ensemble scheduling cannot be set for model '", config.name(),
                                  "' whose platform is not ensemble"),
                     "set platform to \"ensemble\" and no backend");
    return;
  }
  CheckForbiddenFields(config, diagnostics);
  if (CheckSteps(config, diagnostics)) EnsembleGraph(config, diagnostics).Check();
}

}  // namespace nereid
