// SPDX-License-Identifier: Apache-2.0
#include "config/ensemble_members.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "config/diagnostics.h"

namespace nereid {
namespace {

absl::Status DifferentOrigins(const CompiledModel& ensemble, const std::string& model) {
  return absl::InvalidArgumentError(
      absl::StrCat("in ensemble ", ensemble.name, ", step of model '", model,
                   "' receives inputs originated from different decoupled models"));
}

// The name used in configurations.
std::string ConfigName(DataType type) {
  return absl::StrCat("TYPE_", type == DataType::kBytes ? "STRING" : DataTypeName(type));
}

std::string StepField(size_t step) { return absl::StrCat("ensemble_scheduling.step[", step, "]"); }

// How one model describes a tensor of the ensemble.
struct TensorView {
  const std::string* model;
  DataType data_type;
  Shape dims;
  bool batched;

  Shape FullDims() const {
    Shape full;
    if (batched) full.push_back(kVariableDim);
    full.insert(full.end(), dims.begin(), dims.end());
    return full;
  }
};

bool DimsAgree(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](int64_t x, int64_t y) {
    return x == y || x == kVariableDim || y == kVariableDim;
  });
}

// Lives for one check.
class MemberCheck {
 public:
  MemberCheck(const CompiledModel& ensemble, absl::Span<const CompiledModel* const> members)
      : ensemble_(ensemble), members_(members) {}

  Diagnostics Run() {
    const bool batched = ensemble_.max_batch_size > 0;
    // The shape seen by its steps, not by its clients.
    for (const InputSpec& input : ensemble_.inputs) {
      views_[input.name] = {&ensemble_.name, input.data_type, input.reshape.value_or(input.dims),
                            batched};
    }
    for (const OutputSpec& output : ensemble_.outputs) {
      views_[output.name] = {&ensemble_.name, output.data_type,
                             output.reshape.value_or(output.dims), batched};
    }
    for (size_t i = 0; i < members_.size(); ++i) {
      CheckBatchSize(i);
      CheckInputs(i);
      CheckOutputs(i);
    }
    return std::move(diagnostics_);
  }

 private:
  void CheckBatchSize(size_t i) {
    const CompiledModel& member = *members_[i];
    if (member.max_batch_size == 0 || member.max_batch_size >= ensemble_.max_batch_size) return;
    diagnostics_.Add(
        "max_batch_size",
        absl::StrCat("ensemble ", ensemble_.name, " allows maximum batch size ",
                     ensemble_.max_batch_size, ", but it contains model ", member.name,
                     " which only allows maximum batch size to be ", member.max_batch_size),
        absl::StrCat("at most ", member.max_batch_size));
  }

  void CheckInputs(size_t i) {
    const CompiledModel& member = *members_[i];
    std::set<std::string> mapped;
    for (const TensorMapping& input : ensemble_.ensemble.steps[i].inputs) {
      mapped.insert(input.name);
      const int index = member.FindInput(input.name);
      if (index < 0) {
        Report(i, "input_map",
               absl::StrCat("ensemble tensor ", input.tensor, " is mapping to non-existing input ",
                            input.name, " in model ", member.name),
               "name one of the model's inputs");
        continue;
      }
      const InputSpec& spec = member.inputs[static_cast<size_t>(index)];
      const bool batched = member.max_batch_size > 0 && !spec.is_shape_tensor;
      Compare(i, "input_map", input.tensor, {&member.name, spec.data_type, spec.dims, batched});
    }
    for (const InputSpec& spec : member.inputs) {
      if (spec.optional || mapped.count(spec.name) > 0) continue;
      Report(i, "input_map",
             absl::StrCat("input ", spec.name, " in model ", member.name,
                          " is not mapped to any ensemble tensors"),
             "map it, or make it optional in that model");
    }
  }

  void CheckOutputs(size_t i) {
    const CompiledModel& member = *members_[i];
    std::set<std::string> tensors;
    for (const TensorMapping& output : ensemble_.ensemble.steps[i].outputs) {
      const int index = member.FindOutput(output.name);
      if (index < 0) {
        Report(
            i, "output_map",
            absl::StrCat("ensemble tensor ", output.tensor, " is mapped from non-existing output ",
                         output.name, " in model ", member.name),
            "name one of the model's outputs");
        continue;
      }
      if (!tensors.insert(output.tensor).second) {
        Report(i, "output_map",
               absl::StrCat("multiple outputs in model ", member.name,
                            " are mapped to the same ensemble tensor ", output.tensor),
               "give each output a tensor of its own");
      }
      const OutputSpec& spec = member.outputs[static_cast<size_t>(index)];
      Compare(i, "output_map", output.tensor,
              {&member.name, spec.data_type, spec.dims, member.max_batch_size > 0});
    }
  }

  // Compares with the first description of the tensor, given by the ensemble or by an earlier step.
  void Compare(size_t step, const char* map, const std::string& tensor, const TensorView& view) {
    const auto [it, is_new] = views_.emplace(tensor, view);
    if (is_new) return;
    const TensorView& first = it->second;
    if (first.data_type != view.data_type) {
      Report(step, map,
             absl::StrCat("ensemble tensor ", tensor,
                          ": inconsistent data type: ", ConfigName(first.data_type),
                          " is inferred from model ", *first.model, " while ",
                          ConfigName(view.data_type), " is inferred from model ", *view.model),
             "both sides of a tensor have one type");
    }
    const Shape first_full = first.FullDims();
    const Shape full = view.FullDims();
    if (DimsAgree(first.dims, view.dims) || DimsAgree(first_full, full)) return;
    Report(step, map,
           absl::StrCat("ensemble tensor ", tensor, ": inconsistent shape: ",
                        ShapeToString(first_full), " is inferred from model ", *first.model,
                        " while ", ShapeToString(full), " is inferred from model ", *view.model),
           "both sides of a tensor have one shape, the batch dimension included");
  }

  void Report(size_t step, const char* map, const std::string& text, std::string hint) {
    diagnostics_.Add(absl::StrCat(StepField(step), ".", map),
                     absl::StrCat("in ensemble ", ensemble_.name, ", ", text), std::move(hint));
  }

  const CompiledModel& ensemble_;
  const absl::Span<const CompiledModel* const> members_;
  Diagnostics diagnostics_;
  std::map<std::string, TensorView> views_;  // by tensor: its first description
};

}  // namespace

absl::StatusOr<std::vector<uint32_t>> DecoupledOrigins(const CompiledModel& ensemble,
                                                       const std::vector<bool>& decoupled) {
  const std::vector<EnsembleStep>& steps = ensemble.ensemble.steps;
  std::map<std::string, uint32_t> origin_of;  // of the tensors known so far
  for (const InputSpec& input : ensemble.inputs) origin_of[input.name] = 0;
  std::vector<uint32_t> origins(steps.size(), 0);
  std::vector<bool> done(steps.size(), false);
  // Each round completes at least one step: the graph has no cycles.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto known = [&](const TensorMapping& m) { return origin_of.count(m.tensor) > 0; };
      if (done[i] || !std::all_of(steps[i].inputs.begin(), steps[i].inputs.end(), known)) continue;
      for (const TensorMapping& input : steps[i].inputs) {
        const uint32_t origin = origin_of[input.tensor];
        if (origins[i] != 0 && origin != 0 && origin != origins[i]) {
          return DifferentOrigins(ensemble, steps[i].model_name);
        }
        origins[i] = std::max(origins[i], origin);
      }
      const uint32_t own = decoupled[i] ? static_cast<uint32_t>(i) + 1 : origins[i];
      for (const TensorMapping& output : steps[i].outputs) origin_of[output.tensor] = own;
      done[i] = changed = true;
    }
  }
  // The outputs meet in one answer, as inputs meet in a step; Triton names the ensemble then.
  uint32_t origin = 0;
  for (const OutputSpec& output : ensemble.outputs) {
    const auto own = origin_of.find(output.name);
    if (own == origin_of.end() || own->second == 0) continue;
    if (origin != 0 && origin != own->second) return DifferentOrigins(ensemble, ensemble.name);
    origin = own->second;
  }
  return origins;
}

Diagnostics FindMemberProblems(const CompiledModel& ensemble,
                               absl::Span<const CompiledModel* const> members) {
  Diagnostics problems = MemberCheck(ensemble, members).Run();
  if (!problems.problems().empty()) return problems;
  std::vector<bool> decoupled;
  for (const CompiledModel* member : members) decoupled.push_back(member->decoupled);
  const absl::Status origins = DecoupledOrigins(ensemble, decoupled).status();
  if (!origins.ok()) {
    problems.Add("ensemble_scheduling", std::string(origins.message()),
                 "take the inputs of each step, and the outputs, from at most one decoupled model");
  }
  const auto stateful =
      std::find_if(members.begin(), members.end(),
                   [](const CompiledModel* member) { return member->keeps_state; });
  if (ensemble.response_cache && stateful != members.end()) {
    problems.Add("response_cache.enable",
                 absl::StrCat("Response Cache does not currently support model ", ensemble.name,
                              " with sequence batching scheduler. Please disable the response "
                              "cache."),
                 absl::StrCat("set it to false: answers of its member '", (*stateful)->name,
                              "' depend on earlier requests"));
  }
  return problems;
}

absl::Status CheckEnsembleMembers(const CompiledModel& ensemble,
                                  absl::Span<const CompiledModel* const> members) {
  return FindMemberProblems(ensemble, members).ToStatus(ensemble.name);
}

}  // namespace nereid
