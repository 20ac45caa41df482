// SPDX-License-Identifier: Apache-2.0
#include "config/parsed_config.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"
#include "config/compile.h"
#include "config/diagnostics.h"
#include "config/json.h"
#include "config/normalize.h"
#include "config/supported.h"
#include "config/validate/checks.h"
#include "model_config.pb.h"

namespace nereid {

using inference::ModelConfig;

ParsedConfig::ParsedConfig(std::unique_ptr<ModelConfig> proto, bool provided)
    : proto_(std::move(proto)), provided_(provided), notes_(FieldsWithoutEffect(*proto_)) {
  NormalizeConfig(proto_.get());
}
ParsedConfig::ParsedConfig(const ParsedConfig& other)
    : proto_(std::make_unique<ModelConfig>(*other.proto_)),
      provided_(other.provided_),
      notes_(other.notes_),
      rules_(other.rules_) {}
ParsedConfig& ParsedConfig::operator=(const ParsedConfig& other) {
  return *this = ParsedConfig(other);
}
ParsedConfig::ParsedConfig(ParsedConfig&&) noexcept = default;
ParsedConfig& ParsedConfig::operator=(ParsedConfig&&) noexcept = default;
ParsedConfig::~ParsedConfig() = default;

const std::string& ParsedConfig::name() const { return proto_->name(); }
const std::string& ParsedConfig::backend() const { return proto_->backend(); }
const std::string& ParsedConfig::platform() const { return proto_->platform(); }
const std::string& ParsedConfig::runtime() const { return proto_->runtime(); }
const std::string& ParsedConfig::default_model_filename() const {
  return proto_->default_model_filename();
}

std::map<std::string, std::string> ParsedConfig::parameters() const {
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : proto_->parameters()) parameters[name] = value.string_value();
  return parameters;
}

VersionPolicy ParsedConfig::version_policy() const {
  VersionPolicy policy;
  const inference::ModelVersionPolicy& proto = proto_->version_policy();
  if (proto.has_all()) {
    policy.kind = VersionPolicy::Kind::kAll;
  } else if (proto.has_specific()) {
    policy.kind = VersionPolicy::Kind::kSpecific;
    policy.versions.assign(proto.specific().versions().begin(), proto.specific().versions().end());
  } else {
    policy.latest = proto.latest().num_versions();
  }
  return policy;
}

bool ParsedConfig::is_ensemble() const { return proto_->platform() == kEnsemblePlatform; }

void ParsedConfig::SetRuntime(const std::string& runtime) { proto_->set_runtime(runtime); }

void ParsedConfig::SetDecoupled(bool decoupled) {
  proto_->mutable_model_transaction_policy()->set_decoupled(decoupled);
}

std::string ParsedConfig::Json() const { return ModelConfigToJson(*proto_); }

absl::Status ParsedConfig::NormalizeInstanceGroups(const PlacementRules& rules) {
  rules_ = rules;
  for (std::string& line : nereid::NormalizeInstanceGroups(rules_, proto_.get())) {
    notes_.push_back(std::move(line));
  }
  Diagnostics diagnostics;
  CheckInstanceGroups(*proto_, rules_, &diagnostics);
  CheckGrowableStates(*proto_, &diagnostics);
  return diagnostics.ToStatus(name());
}

absl::Status ParsedConfig::MergeBackendUpdate(uint32_t config_version, absl::string_view json) {
  RETURN_IF_ERROR(CheckConfigVersion(config_version));
  ModelConfig update;
  RETURN_IF_ERROR(ModelConfigFromJson(json, &update));

  const auto ours = proto_->scheduling_choice_case();
  const auto theirs = update.scheduling_choice_case();
  if (ours != ModelConfig::SCHEDULING_CHOICE_NOT_SET &&
      theirs != ModelConfig::SCHEDULING_CHOICE_NOT_SET && ours != theirs) {
    const int choice = static_cast<int>(ours);
    return absl::InternalError(absl::StrCat("Cannot update scheduling choice from ", choice, " to ",
                                            choice, " when auto-completing."));
  }
  if (ours == ModelConfig::SCHEDULING_CHOICE_NOT_SET) {
    if (update.has_dynamic_batching()) {
      *proto_->mutable_dynamic_batching() = update.dynamic_batching();
    } else if (update.has_sequence_batching()) {
      *proto_->mutable_sequence_batching() = update.sequence_batching();
    } else if (update.has_ensemble_scheduling()) {
      *proto_->mutable_ensemble_scheduling() = update.ensemble_scheduling();
    }
  }
  proto_->set_max_batch_size(update.max_batch_size());
  *proto_->mutable_input() = update.input();
  *proto_->mutable_output() = update.output();
  if (update.has_model_transaction_policy()) {
    *proto_->mutable_model_transaction_policy() = update.model_transaction_policy();
  }
  // What the OpenAI routes want to know, and a backend has read from the model's own files.
  for (const auto& [name, parameter] : update.parameters()) {
    if (absl::StartsWith(name, "openai.")) proto_->mutable_parameters()->insert({name, parameter});
  }
  provided_ = true;
  NormalizeConfig(proto_.get());
  return absl::OkStatus();
}

absl::StatusOr<CompiledModel> ParsedConfig::Compile(int64_t version) const {
  if (!provided_) {
    return absl::NotFoundError(
        absl::StrCat("model configuration is not provided for model '", name(), "'"));
  }
  Diagnostics diagnostics;
  CheckConfig(*proto_, &diagnostics);
  CheckInputsAndOutputs(*proto_, &diagnostics);
  CheckInstanceGroups(*proto_, rules_, &diagnostics);
  CheckGrowableStates(*proto_, &diagnostics);
  CheckSupported(*proto_, &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus(name()));
  CompiledModel model = CompileModel(*proto_, version);
  RETURN_IF_ERROR(ReadTfsParameters(&model));
  return model;
}

absl::Status ParsedConfig::CheckTfsParameters(std::string* wrong) const {
  if (proto_->input().empty() || proto_->output().empty()) return absl::OkStatus();
  CompiledModel model;  // as much of it as the parameters are about
  model.parameters = parameters();
  for (const inference::ModelInput& input : proto_->input()) {
    model.inputs.emplace_back().name = input.name();
  }
  for (const inference::ModelOutput& output : proto_->output()) {
    OutputSpec& spec = model.outputs.emplace_back();
    spec.name = output.name();
    spec.data_type = static_cast<DataType>(output.data_type());
  }
  return ReadTfsParameters(&model, wrong);
}

}  // namespace nereid
