// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/repository_check.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "backend_host/backend_library.h"
#include "backend_host/backend_location.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "config/ensemble_members.h"
#include "config/relations.h"
#include "config/server_parameters.h"
#include "config/version_policy.h"
#include "device/device_options.h"
#include "lifecycle/plan/load_planner.h"

namespace nereid {
namespace {

// Whether `backend` is one whose models are a file (or a directory) of a known name in each
// version.
bool NeedsModelFile(const std::string& backend) {
  static const auto* const kBackends = new std::vector<std::string>{
      "generative", "onnxruntime", "openvino", "python", "pytorch", "tensorflow", "tensorrt"};
  return std::find(kBackends->begin(), kBackends->end(), backend) != kBackends->end();
}

void AddProblem(CheckedModel* model, const std::string& file, std::string text) {
  ConfigProblem problem;
  problem.file = file;
  problem.text = std::move(text);
  model->problems.push_back(std::move(problem));
}

void CheckVersions(const FileSystem& fs, const ParsedConfig& config, CheckedModel* model) {
  const auto entries = fs.ListDirectory(model->directory);
  if (!entries.ok()) return AddProblem(model, model->directory, entries.status().ToString());
  std::vector<std::string> directories;
  for (const DirEntry& entry : *entries) {
    if (entry.is_directory) directories.push_back(entry.name);
  }
  VersionSelection selection = SelectVersions(model->name, directories, config.version_policy());
  for (std::string& warning : selection.warnings) model->notes.push_back(std::move(warning));
  for (std::string& error : selection.errors) AddProblem(model, model->directory, std::move(error));
  model->versions = selection.versions;
  if (model->versions.empty()) {
    AddProblem(model, model->directory,
               absl::StrCat("at least one version must be available under the version policy of "
                            "model '",
                            model->name, "'"));
  }
  const std::string& file = config.default_model_filename();
  if (file.empty() || !NeedsModelFile(config.backend())) return;
  for (const int64_t version : model->versions) {
    const std::string path = JoinPath(JoinPath(model->directory, absl::StrCat(version)), file);
    const absl::StatusOr<bool> exists = fs.Exists(path);
    if (exists.ok() && *exists) continue;
    AddProblem(model, path, absl::StrCat("version ", version, " has no file '", file, "'"));
  }
}

// If the backend is a Python file, notes that, and adds the runtime to the effective fields of a
// model whose configuration names none.
void NoteRuntime(const BackendLocation& backend, const ParsedConfig& config, CheckedModel* model) {
  if (!backend.python_based) return;
  model->notes.push_back(absl::StrCat("backend '", config.backend(), "' is '", backend.code(),
                                      "', run by '", backend.library, "'"));
  if (!config.runtime().empty()) return;
  const auto after =
      std::find_if(model->fields.begin(), model->fields.end(),
                   [](const EffectiveField& field) { return field.path == "backend"; });
  if (after == model->fields.end()) return;
  model->fields.insert(
      after + 1, {"runtime", absl::StrCat("\"", kPythonRuntime, "\""),
                  absl::StrCat("there is no library of the backend, but '", backend.code(), "'")});
}

// How instances are placed on the GPUs of a machine, by what the backends' libraries say of
// themselves. A backend whose library is not found may use GPUs.
class Placement {
 public:
  Placement(const FileSystem& fs, const CheckOptions& options) : fs_(fs), options_(options) {}

  PlacementRules RulesOf(const std::string& backend) {
    PlacementRules rules;
    for (int gpu = 0; gpu < options_.gpus; ++gpu) rules.gpus.push_back(gpu);
    rules.min_compute_capability = DeviceOptions::kMinComputeCapability;
    rules.computes_on_cpus = options_.gpus > 0 && ComputesOnCpus(backend);
    return rules;
  }

 private:
  // Looks for the mark among the names that the library holds, without loading it.
  bool ComputesOnCpus(const std::string& backend) {
    const auto [known, is_new] = known_.try_emplace(backend, false);
    if (!is_new || options_.backend_directory.empty() || backend.empty()) return known->second;
    const std::string folder = JoinPath(options_.backend_directory, backend);
    const absl::StatusOr<std::string> library =
        fs_.ReadFile(JoinPath(folder, absl::StrCat("libtriton_", backend, ".so")));
    known->second = library.ok() && absl::StrContains(*library, kComputesOnCpusMark);
    return known->second;
  }

  const FileSystem& fs_;
  const CheckOptions& options_;
  std::map<std::string, bool> known_;
};

// Checks whether the backend exists.
void CheckBackend(const CheckOptions& options, const ParsedConfig& config, const std::string& file,
                  CheckedModel* model) {
  if (options.backend_directory.empty() || config.is_ensemble() || config.backend().empty()) return;
  for (const int64_t version : model->versions) {
    const absl::StatusOr<BackendLocation> found =
        LocateBackend(options.backend_directory, config, model->directory, version);
    if (found.ok()) {
      if (version == model->versions.front()) NoteRuntime(*found, config, model);
      continue;
    }
    if (options.backends_required) {
      AddProblem(model, file, std::string(found.status().message()));
    } else {
      model->missing_backend = config.backend();
      model->notes.push_back(absl::StrCat("there is no backend '", config.backend(), "' in '",
                                          options.backend_directory,
                                          "'; the server that loads the model needs it"));
    }
    return;
  }
}

void CheckParameters(const CheckOptions& options, const ExplainedConfig& explained,
                     CheckedModel* model) {
  const ParsedConfig& config = *explained.config;
  if (!options.check_parameters || config.is_ensemble()) return;
  for (const ParameterRemark& remark :
       options.check_parameters(config.backend(), config.name(), config.parameters())) {
    if (remark.level == ParameterRemark::Level::kNote) {
      model->notes.push_back(remark.text);
      continue;
    }
    const std::string field = absl::StrCat("parameters.", remark.parameter);
    auto& list =
        remark.level == ParameterRemark::Level::kWarning ? model->warnings : model->problems;
    list.push_back({remark.text, field, "", explained.file, explained.line_of(field)});
  }
}

// A model on demand has to fit into the budget.
void CheckMemory(uint64_t budget, const ExplainedConfig& explained, CheckedModel* model) {
  const auto& parameters = explained.config->parameters();
  const auto stated = parameters.find(kMemoryBytesParameter);
  uint64_t bytes = 0;
  if (budget == 0 || stated == parameters.end() || !absl::SimpleAtoi(stated->second, &bytes) ||
      bytes <= budget) {
    return;
  }
  const std::string field = absl::StrCat("parameters.", kMemoryBytesParameter);
  model->problems.push_back({absl::StrCat("model '", model->name, "' needs ", bytes,
                                          " bytes, but --memory-budget is ", budget),
                             field, "the server would never load it", explained.file,
                             explained.line_of(field)});
}

void CheckTfs(const ExplainedConfig& explained, CheckedModel* model) {
  std::string wrong;
  const absl::Status status = explained.config->CheckTfsParameters(&wrong);
  if (status.ok()) return;
  const std::string field = absl::StrCat("parameters.", wrong);
  model->problems.push_back(
      {std::string(status.message()), field, "", explained.file, explained.line_of(field)});
}

// A model in the repositories, and its effective configuration.
struct Candidate {
  ModelId id;
  ExplainedConfig explained;
};

// The configuration of a member as far as it is known without its backend. Null, with a note, if
// that is not enough.
std::unique_ptr<CompiledModel> CompileMember(const ParsedConfig& config, CheckedModel* ensemble) {
  absl::StatusOr<CompiledModel> compiled = config.Compile(1);
  const auto is_known = [](const auto& tensors) {
    return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [](const auto& tensor) {
      return tensor.data_type != DataType::kInvalid && !tensor.dims.empty();
    });
  };
  if (compiled.ok() && is_known(compiled->inputs) && is_known(compiled->outputs)) {
    return std::make_unique<CompiledModel>(*std::move(compiled));
  }
  ensemble->notes.push_back(absl::StrCat("whether '", config.name(),
                                         "' fits its step is seen when it loads: its inputs and "
                                         "outputs are completed by the backend"));
  return nullptr;
}

// Checks whether the steps of an ensemble fit its members. REQUIRES: all members were found.
class StepCheck {
 public:
  StepCheck(const std::vector<Candidate>& candidates, std::vector<CheckedModel>* models)
      : candidates_(candidates), models_(*models) {}

  void Run(size_t index) {
    const ExplainedConfig& explained = candidates_[index].explained;
    const absl::StatusOr<CompiledModel> ensemble = explained.config->Compile(1);
    if (!ensemble.ok()) return;
    std::vector<std::unique_ptr<CompiledModel>> members;
    std::vector<const CompiledModel*> all;
    bool known = true;
    for (size_t step = 0; step < ensemble->ensemble.steps.size(); ++step) {
      const EnsembleStep& spec = ensemble->ensemble.steps[step];
      const size_t member = FindMember(candidates_[index].id.space, spec.model_name);
      // A member with problems of its own is not compared with the step.
      if (!models_[member].problems.empty()) return;
      CheckVersion(index, step, spec, models_[member].versions);
      members.push_back(CompileMember(*candidates_[member].explained.config, &models_[index]));
      if (members.back() != nullptr) members.back()->keeps_state = KeepsState(member);
      all.push_back(members.back().get());
      known = known && all.back() != nullptr;
    }
    if (!known) return;
    const Diagnostics diagnostics = FindMemberProblems(*ensemble, all);
    for (const Problem& problem : diagnostics.problems()) {
      Add(index, problem.field, problem.text, problem.hint);
    }
  }

 private:
  // Whether a model, or a member of the ensemble that it is, has a sequence scheduler.
  bool KeepsState(size_t model) const {
    std::set<size_t> seen = {model};
    std::vector<size_t> open = {model};
    while (!open.empty()) {
      const Candidate& next = candidates_[open.back()];
      open.pop_back();
      if (!next.explained.config.has_value()) continue;
      const absl::StatusOr<CompiledModel> compiled = next.explained.config->Compile(1);
      if (!compiled.ok()) continue;
      if (compiled->keeps_state) return true;
      for (const EnsembleStep& step : compiled->ensemble.steps) {
        const size_t member = FindMember(next.id.space, step.model_name);
        if (seen.insert(member).second) open.push_back(member);
      }
    }
    return false;
  }

  size_t FindMember(const std::string& space, const std::string& name) const {
    size_t found = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].id.name != name) continue;
      found = i;
      if (candidates_[i].id.space == space) break;
    }
    return found;
  }

  void CheckVersion(size_t index, size_t step, const EnsembleStep& spec,
                    const std::vector<int64_t>& versions) {
    const int64_t wanted = spec.model_version;
    if (wanted < 0 || std::find(versions.begin(), versions.end(), wanted) != versions.end()) return;
    Add(index, absl::StrCat("ensemble_scheduling.step[", step, "].model_version"),
        absl::StrCat("ensemble '", models_[index].name, "' depends on '", spec.model_name,
                     "' whose required version ", wanted, " is not loaded."),
        absl::StrCat("its versions are ", absl::StrJoin(versions, ", ")));
  }

  void Add(size_t index, const std::string& field, const std::string& text,
           const std::string& hint) {
    const ExplainedConfig& explained = candidates_[index].explained;
    models_[index].problems.push_back(
        {text, field, hint, explained.file, explained.line_of(field)});
  }

  const std::vector<Candidate>& candidates_;
  std::vector<CheckedModel>& models_;
};

void WriteProblem(const ConfigProblem& problem, JsonWriter* json) {
  json->BeginObject();
  json->Key("file");
  json->String(problem.file);
  if (problem.line > 0) {
    json->Key("line");
    json->Int(problem.line);
  }
  if (!problem.field.empty()) {
    json->Key("field");
    json->String(problem.field);
  }
  json->Key("text");
  json->String(problem.text);
  if (!problem.hint.empty()) {
    json->Key("hint");
    json->String(problem.hint);
  }
  json->EndObject();
}

void WriteModel(const CheckedModel& model, JsonWriter* json) {
  json->BeginObject();
  json->Key("name");
  json->String(model.name);
  json->Key("directory");
  json->String(model.directory);
  json->Key("versions");
  json->BeginArray();
  for (const int64_t version : model.versions) json->Int(version);
  json->EndArray();
  json->Key("config");
  json->BeginArray();
  for (const EffectiveField& field : model.fields) {
    json->BeginObject();
    json->Key("field");
    json->String(field.path);
    json->Key("value");
    json->String(field.value);
    if (!field.why.empty()) {
      json->Key("why");
      json->String(field.why);
    }
    json->EndObject();
  }
  json->EndArray();
  json->Key("problems");
  json->BeginArray();
  for (const ConfigProblem& problem : model.problems) WriteProblem(problem, json);
  json->EndArray();
  json->Key("warnings");
  json->BeginArray();
  for (const ConfigProblem& warning : model.warnings) WriteProblem(warning, json);
  json->EndArray();
  json->Key("notes");
  json->BeginArray();
  for (const std::string& note : model.notes) json->String(note);
  json->EndArray();
  json->EndObject();
}

std::string ProblemText(const ConfigProblem& problem) {
  std::string text = problem.file;
  if (problem.line > 0) absl::StrAppend(&text, ":", problem.line);
  absl::StrAppend(&text, ": ", problem.text);
  if (!problem.hint.empty()) absl::StrAppend(&text, " (", problem.field, ": ", problem.hint, ")");
  return text;
}

// Checks what one model says of itself. `ambiguous`: other directories claim its name. Its members,
// if it is an ensemble, are added to `members`.
Candidate CheckAlone(const FileSystem& fs, const CheckOptions& options,
                     const RulesOfBackend& rules_of, const ModelId& id,
                     const std::string& directory, bool ambiguous,
                     std::vector<std::string>* members, CheckedModel* model) {
  ConfigSource source;
  source.model_dir = directory;
  source.expected_name = id.name;
  source.rename = IsRenamed(options.layout, id.name, directory);
  source.auto_complete = options.auto_complete_config;
  source.model_config_name = options.model_config_name;
  ExplainedConfig explained = ExplainModelConfig(fs, source, rules_of);
  model->name = id.name;
  model->directory = directory;
  model->fields = std::move(explained.fields);
  model->problems = std::move(explained.problems);
  model->notes = std::move(explained.notes);
  if (ambiguous) AddProblem(model, directory, kAmbiguousReason);
  // Without a configuration that parses, `problems` says why, and there is nothing else to check.
  if (explained.config.has_value()) {
    for (const EnsembleMember& member : EnsembleMembersOf(*explained.config)) {
      members->push_back(member.name);
    }
    CheckVersions(fs, *explained.config, model);
    CheckBackend(options, *explained.config, explained.file, model);
    CheckParameters(options, explained, model);
    CheckTfs(explained, model);
    CheckMemory(options.memory_budget, explained, model);
  }
  return {id, std::move(explained)};
}

}  // namespace

absl::StatusOr<std::vector<CheckedModel>> CheckRepositories(const FileSystem& fs,
                                                            const CheckOptions& options) {
  ASSIGN_OR_RETURN(const ModelDirectories found, ListModelDirectories(fs, options.layout));
  std::vector<CheckedModel> models;
  std::vector<Candidate> candidates;
  std::map<ModelId, std::vector<std::string>> members;
  Placement placement(fs, options);
  const RulesOfBackend rules_of = [&](const std::string& backend) {
    return placement.RulesOf(backend);
  };
  for (const auto& [id, directories] : found) {
    for (const std::string& directory : directories) {
      CheckedModel& model = models.emplace_back();
      candidates.push_back(CheckAlone(fs, options, rules_of, id, directory, directories.size() > 1,
                                      &members[id], &model));
    }
  }
  // Once all models are known: what an ensemble needs of others.
  const DependencyGraph graph(members);
  for (size_t i = 0; i < models.size(); ++i) {
    const absl::Status status = graph.Check(candidates[i].id);
    if (!status.ok())
      AddProblem(&models[i], candidates[i].explained.file, std::string(status.message()));
    // Steps are checked only where the rest is right: otherwise one mistake would be told twice.
    if (models[i].problems.empty() && candidates[i].explained.config->is_ensemble()) {
      StepCheck(candidates, &models).Run(i);
    }
  }
  return models;
}

size_t CountProblems(const std::vector<CheckedModel>& models) {
  size_t count = 0;
  for (const CheckedModel& model : models) count += model.problems.size();
  return count;
}

size_t CountWarnings(const std::vector<CheckedModel>& models) {
  size_t count = 0;
  for (const CheckedModel& model : models) count += model.warnings.size();
  return count;
}

namespace {

std::string Counted(size_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

// The last lines of the text: one is enough where all is well.
std::string Summary(const std::vector<CheckedModel>& models) {
  std::vector<std::string> bad;
  std::set<std::string> backends;
  for (const CheckedModel& model : models) {
    if (!model.problems.empty()) bad.push_back(model.name);
    if (!model.missing_backend.empty()) backends.insert(model.missing_backend);
  }
  std::string text = absl::StrCat(Counted(models.size(), "model"), ", ",
                                  Counted(CountProblems(models), "problem"));
  if (!bad.empty()) {
    absl::StrAppend(&text, " in ", bad.size(), " of them: ", absl::StrJoin(bad, ", "));
  }
  const size_t warnings = CountWarnings(models);
  if (warnings > 0) absl::StrAppend(&text, bad.empty() ? ", " : "; ", Counted(warnings, "warning"));
  text += '\n';
  if (!backends.empty()) {
    absl::StrAppend(&text, "Not installed here, but needed by models: ",
                    backends.size() == 1 ? "the backend " : "the backends ",
                    absl::StrJoin(backends, ", "), ".\n");
  }
  return text;
}

}  // namespace

std::string ToText(const std::vector<CheckedModel>& models) {
  std::string text;
  for (const CheckedModel& model : models) {
    absl::StrAppend(&text, model.name, "  (versions: ",
                    model.versions.empty() ? "none" : absl::StrJoin(model.versions, ", "), ")\n");
    for (const EffectiveField& field : model.fields) {
      absl::StrAppend(&text, "  ", field.path, ": ", field.value);
      if (!field.why.empty()) absl::StrAppend(&text, "  # ", field.why);
      text += '\n';
    }
    for (const std::string& note : model.notes) absl::StrAppend(&text, "  note: ", note, "\n");
    for (const ConfigProblem& warning : model.warnings) {
      absl::StrAppend(&text, "  WARNING ", ProblemText(warning), "\n");
    }
    for (const ConfigProblem& problem : model.problems) {
      absl::StrAppend(&text, "  PROBLEM ", ProblemText(problem), "\n");
    }
    text += '\n';
  }
  return absl::StrCat(text, Summary(models));
}

std::string ToJson(const std::vector<CheckedModel>& models) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Key("models");
  json.BeginArray();
  for (const CheckedModel& model : models) WriteModel(model, &json);
  json.EndArray();
  json.Key("problems");
  json.Uint(CountProblems(models));
  json.Key("warnings");
  json.Uint(CountWarnings(models));
  json.EndObject();
  return text;
}

std::string ProblemsToJson(const std::vector<CheckedModel>& models) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Add("checked", models.size());
  json.BeginArray("problems");
  const auto write = [&json](const CheckedModel& model, const char* kind,
                             const std::vector<ConfigProblem>& problems) {
    for (const ConfigProblem& problem : problems) {
      json.BeginObject();
      json.Add("model", model.name);
      json.Add("kind", kind);
      json.Add("text", ProblemText(problem));
      json.EndObject();
    }
  };
  for (const CheckedModel& model : models) {
    write(model, "problem", model.problems);
    write(model, "warning", model.warnings);
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace nereid
