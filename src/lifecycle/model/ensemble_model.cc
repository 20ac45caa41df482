// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/ensemble_model.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/status_macros.h"
#include "config/ensemble_members.h"
#include "infer/infer_request.h"
#include "infer/serving_model.h"
#include "lifecycle/model/version_files.h"

namespace nereid {
namespace {

using Missing = ModelResolver::Missing;
const StepAllocator kNoLimit(nullptr, Devices::None());

using Members = std::vector<std::shared_ptr<ServingModel>>;  // by step

std::string DescribeMissing(const std::string& ensemble, const EnsembleStep& step,
                            const ModelResolver::Found& found) {
  std::string text = absl::StrCat("ensemble '", ensemble, "' depends on '", step.model_name, "' ");
  switch (found.missing) {
    case Missing::kInvalid:
      absl::StrAppend(&text, "which is not valid. Model '", step.model_name,
                      "' failed with error: ", found.error.message());
      break;
    case Missing::kVersionNotReady:
      absl::StrAppend(&text, "whose required version ", step.model_version, " is not loaded.");
      break;
    default:
      absl::StrAppend(&text, "which has no loaded version.");
      if (!found.error.ok()) {
        absl::StrAppend(&text, " Model '", step.model_name,
                        "' loading failed with error: ", found.error.message());
      }
  }
  return text;
}

// The models of the steps. INVALID_ARGUMENT, with a line per missing model.
absl::StatusOr<Members> FindMembers(const CompiledModel& ensemble, ModelResolver* resolver) {
  Members members;
  std::set<std::string> unknown;
  std::set<std::string> problems;
  for (const EnsembleStep& step : ensemble.ensemble.steps) {
    ModelResolver::Found found = resolver->LookUp(step);
    if (found.missing == Missing::kUnknown) {
      unknown.insert(step.model_name);
    } else if (found.missing != Missing::kNothing) {
      problems.insert(DescribeMissing(ensemble.name, step, found));
    }
    members.push_back(std::move(found.model));
  }
  if (!unknown.empty()) {
    problems.insert(absl::StrCat(
        "ensemble ", ensemble.name,
        " contains models that are not available or ambiguous: ", absl::StrJoin(unknown, ", ")));
  }
  if (problems.empty()) return members;
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

// An output without labels of its own gets those of the member's output from which it comes.
void InheritLabels(const CompiledModel& ensemble, const Members& members, OutputLabels* labels) {
  for (const OutputSpec& output : ensemble.outputs) {
    if (labels->count(output.name) > 0) continue;
    for (size_t i = 0; i < members.size(); ++i) {
      for (const TensorMapping& mapping : ensemble.ensemble.steps[i].outputs) {
        if (mapping.tensor != output.name) continue;
        const OutputLabels& theirs = members[i]->labels();
        if (const auto it = theirs.find(mapping.name); it != theirs.end()) {
          (*labels)[output.name] = it->second;
        }
      }
    }
  }
}

bool KeepState(const Members& members) {
  return std::any_of(members.begin(), members.end(),
                     [](const auto& member) { return member->config().keeps_state; });
}

absl::StatusOr<CompiledModel> CompileEnsemble(const ParsedConfig& config, const std::string& space,
                                              int64_t version) {
  ASSIGN_OR_RETURN(CompiledModel compiled, config.Compile(version));
  for (EnsembleStep& step : compiled.ensemble.steps) step.space = space;
  return compiled;
}

// Like FindMembers. Also an error if the models do not fit together.
absl::StatusOr<Members> FittingMembers(const CompiledModel& ensemble, ModelResolver* resolver) {
  ASSIGN_OR_RETURN(Members members, FindMembers(ensemble, resolver));
  std::vector<const CompiledModel*> configs;
  for (const auto& member : members) configs.push_back(&member->config());
  RETURN_IF_ERROR(CheckEnsembleMembers(ensemble, configs));
  return members;
}

// The fingerprint of the ensemble's configuration and files and of its members; empty without a
// response cache.
std::string Fingerprint(const LoadContext& context, const std::string& model_dir,
                        const CompiledModel& ensemble, const Members& members) {
  if (context.response_cache == nullptr) return "";
  std::string text = ModelFingerprint(*context.file_system, model_dir, ensemble);
  for (const auto& member : members) {
    absl::StrAppend(&text, "\n", member->config().version, "\n", member->fingerprint());
  }
  return text;
}

}  // namespace

absl::Status EnsembleModel::Check(const LoadContext& context, const ParsedConfig& config,
                                  const std::string& space) {
  ASSIGN_OR_RETURN(const CompiledModel compiled, CompileEnsemble(config, space, 1));
  return FittingMembers(compiled, context.resolver).status();
}

absl::StatusOr<std::shared_ptr<EnsembleModel>> EnsembleModel::Load(const LoadContext& context,
                                                                   const ParsedConfig& parsed,
                                                                   const std::string& model_dir,
                                                                   const std::string& space,
                                                                   int64_t version) {
  ParsedConfig config = parsed;
  for (const std::string& note : config.notes()) LOG_INFO << note;
  ASSIGN_OR_RETURN(CompiledModel compiled, CompileEnsemble(config, space, version));
  ASSIGN_OR_RETURN(const Members members, FittingMembers(compiled, context.resolver));
  std::vector<bool> decoupled;
  for (const auto& member : members) decoupled.push_back(member->config().decoupled);
  ASSIGN_OR_RETURN(StepGraph graph, StepGraph::Make(compiled, decoupled));
  // Clients read from the configuration whether the ensemble is decoupled. So it has to say so,
  // too, if only a member does.
  config.SetDecoupled(compiled.decoupled || graph.full_plan().decoupled);
  ASSIGN_OR_RETURN(compiled, CompileEnsemble(config, space, version));
  compiled.keeps_state = KeepState(members);
  ASSIGN_OR_RETURN(OutputLabels labels, ReadLabels(*context.file_system, compiled, model_dir));
  InheritLabels(compiled, members, &labels);
  std::string fingerprint = Fingerprint(context, model_dir, compiled, members);
  if (const uint32_t limit = compiled.ensemble.max_inflight_requests; limit > 0) {
    LOG_INFO << "Ensemble model '" << compiled.name
             << "' configured with max_inflight_requests: " << limit;
  }
  std::shared_ptr<EnsembleModel> model(
      new EnsembleModel(context, std::make_shared<const CompiledModel>(std::move(compiled)),
                        std::move(labels), std::move(fingerprint), std::move(graph)));
  return model;
}

EnsembleModel::EnsembleModel(const LoadContext& context,
                             std::shared_ptr<const CompiledModel> compiled, OutputLabels labels,
                             std::string fingerprint, StepGraph graph)
    : ManagedModel(std::move(compiled), std::move(labels), context.clock, context.metrics,
                   Duration(0), context.recorded_events),
      resolver_(context.resolver) {
  // Inputs in pieces that go to several models are joined once for the ensemble, not by each model.
  set_reads_pieces(!graph.shares_inputs());
  set_fingerprint(std::move(fingerprint));
  set_devices(context.devices);
  set_input_recorder(context.input_recorder);
  scheduler_ = MakeEnsembleScheduler(
      config(), this->fingerprint(), ToolsOf(context), std::move(graph), context.resolver,
      context.step_allocator != nullptr ? context.step_allocator : &kNoLimit);
}

absl::Status EnsembleModel::MembersReady(absl::Status (ServingModel::*ask)()) {
  for (const EnsembleStep& step : config().ensemble.steps) {
    std::shared_ptr<ServingModel> asked;
    absl::Status ready;
    const auto found = RetryOverSwaps([&]() -> std::optional<absl::Status> {
      absl::StatusOr<std::shared_ptr<ServingModel>> member = resolver_->Resolve(step, nullptr);
      if (!member.ok()) return member.status();
      if (*member == asked) return absl::OkStatus();  // not replaced: its answer counts
      asked = *std::move(member);
      ready = ((*asked).*ask)();
      if (!ready.ok() && !asked->AdmissionOpen()) return std::nullopt;
      return absl::OkStatus();
    });
    if (found.has_value()) RETURN_IF_ERROR(*found);
    RETURN_IF_ERROR(ready);
  }
  return absl::OkStatus();
}

absl::Status EnsembleModel::CheckMembers() { return FittingMembers(config(), resolver_).status(); }

bool EnsembleModel::MembersHaveSequence(const InferRequest& request) const {
  const std::vector<EnsembleStep>& steps = config().ensemble.steps;
  return std::any_of(steps.begin(), steps.end(), [&](const EnsembleStep& step) {
    const auto member = resolver_->Resolve(step, &request);
    return member.ok() && ((*member)->HasSequence(request.correlation_id()) ||
                           (*member)->MembersHaveSequence(request));
  });
}

void EnsembleModel::CloseAdmission() {
  admission_open_.store(false, std::memory_order_release);
  scheduler_->CloseAdmission();
  StopWaitingForClients();
}

}  // namespace nereid
