// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/names.h"

#include <algorithm>
#include <map>
#include <optional>

#include "backends/sdk/batch_input.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

constexpr std::string_view kSeparator = "__";

// INDEX of NAME__INDEX, where NAME ends at the first "__".
std::optional<size_t> IndexInName(std::string_view name) {
  const size_t at = name.find(kSeparator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(at + kSeparator.size());
  const bool all_digits =
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  constexpr size_t kMostDigits = 6;
  if (!all_digits || digits.size() > kMostDigits) return std::nullopt;
  size_t index = 0;
  for (const char c : digits) index = index * 10 + static_cast<size_t>(c - '0');
  return index;
}

// The index of the argument or result called `name`.
template <typename Value>
std::optional<size_t> IndexOfName(const std::vector<Value>& values, std::string_view name) {
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::string>& names = values[i].names;
    if (std::find(names.begin(), names.end(), name) != names.end()) return i;
  }
  return std::nullopt;
}

template <typename Value>
std::optional<size_t> IndexByAnyRule(const std::vector<Value>& values, std::string_view name) {
  const std::optional<size_t> named = IndexOfName(values, name);
  return named.has_value() ? named : IndexInName(name);
}

// Gives every tensor of a list its index, by the first rule that holds for all of them.
template <typename Value>
void IndexList(const std::vector<Value>& values, std::vector<Named>* list) {
  const auto index_all = [&](auto&& rule) {
    std::vector<size_t> found;
    for (const Named& tensor : *list) {
      const std::optional<size_t> index = rule(tensor.name);
      if (!index.has_value()) return false;
      found.push_back(*index);
    }
    for (size_t i = 0; i < found.size(); ++i) (*list)[i].index = found[i];
    return true;
  };
  if (index_all([&](std::string_view name) { return IndexOfName(values, name); })) return;
  if (index_all(IndexInName)) return;
  for (size_t i = 0; i < list->size(); ++i) (*list)[i].index = i;
}

// Logs that names which look like NAME__INDEX are not interpreted as such.
void WarnOfOrder(const ModelConfig& config, const std::vector<Named>& list, bool inputs) {
  for (const Named& tensor : list) {
    const bool has_separator = tensor.name.find(kSeparator) != std::string::npos;
    if (!has_separator || IndexInName(tensor.name).has_value()) continue;
    if (inputs) {
      NB_LOG_WARNING("input '", tensor.name,
                     "' or previous input(s) are neither an input argument to the model '",
                     config.name,
                     "' nor do they follow the <name>__<index> naming convention. Falling back to "
                     "enforcing strict ordering from model configuration.");
    } else {
      NB_LOG_WARNING("output '", tensor.name, "' or previous output(s) of the model '", config.name,
                     "' do not follow the <name>__<index> naming convention. Falling back to "
                     "enforcing strict ordering from model configuration.");
    }
    return;
  }
}

bool IsArgument(const Forward& forward, const std::string& name) {
  return IndexOfName(forward.arguments, name).has_value();
}

// The inputs of the configuration, then the computed ones; this order counts if names give no
// index.
Result<std::vector<Named>> ListInputs(const ModelConfig& config) {
  std::vector<Named> list;
  for (const TensorConfig& input : config.inputs) list.push_back({input.name, input.type, 0});
  NB_ASSIGN_OR_RETURN(const std::vector<BatchInput> rules, BatchInput::ReadAll(config));
  for (const BatchInput& rule : rules) {
    for (const std::string& target : rule.targets()) list.push_back({target, rule.type(), 0});
  }
  return list;
}

Error IndexControl(const Forward& forward, const ControlConfig& control, Named* tensor) {
  const std::optional<size_t> index = IndexByAnyRule(forward.arguments, control.input);
  if (!index.has_value()) {
    return Error::Internal(
        StrCat("input '", control.input, "' does not follow <name>__<index> naming convention."));
  }
  tensor->index = *index;
  return Error();
}

Error StateNotIndexed(const ModelConfig& config, const std::string& state) {
  return Error::InvalidArg(StrCat("PyTorch model '", config.name,
                                  "' is using sequence batching with state but state '", state,
                                  "' does not follow the <name>__<index> naming convention. "));
}

// A model with states needs names that give an index, because the order of a list does not say
// where the states belong.
Error RequireNamesBesideStates(const ModelConfig& config, const std::vector<Named>& list,
                               bool named) {
  if (config.states.empty() || named) return Error();
  const bool indexed = std::all_of(list.begin(), list.end(), [](const Named& tensor) {
    return IndexInName(tensor.name).has_value();
  });
  if (indexed) return Error();
  return Error::InvalidArg(
      StrCat("PyTorch model '", config.name,
             "' is using sequence batching with state but not all inputs and outputs follow the "
             "<name>__<index> naming convention. "));
}

std::string_view KindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kTensor:
      return "a Tensor";
    case ValueKind::kStrings:
      return "a List[str]";
    default:
      return "neither a Tensor nor a List[str]";
  }
}

bool Agree(TRITONSERVER_DataType type, ValueKind kind) {
  if (kind == ValueKind::kUnknown) return true;
  return kind == (type == TRITONSERVER_TYPE_BYTES ? ValueKind::kStrings : ValueKind::kTensor);
}

Error CheckDictionary(const ModelConfig& config, const std::vector<Named>& tensors,
                      std::string_view what) {
  for (const Named& tensor : tensors) {
    if (tensor.type != TRITONSERVER_TYPE_BYTES) continue;
    return Error::InvalidArg(StrCat("unable to load model '", config.name, "': ", what, " '",
                                    tensor.name, "' is configured as TYPE_STRING, but the ", what,
                                    "s are a Dict(str, Tensor)"));
  }
  return Error();
}

// For example "argument 'x' (Tensor)".
std::string Describe(const Argument& argument) {
  return StrCat("argument '", argument.names.empty() ? "" : argument.names[0], "' (", argument.type,
                ")");
}

Error CheckArguments(const ModelConfig& config, const Forward& forward,
                     const std::vector<Named>& inputs) {
  std::map<size_t, const Named*> taken;
  for (const Named& input : inputs) {
    if (input.index >= forward.arguments.size()) {
      return Error::InvalidArg(StrCat(
          "unable to load model '", config.name, "': input '", input.name, "' is argument ",
          input.index, " of the model, which has ", forward.arguments.size(), ": ", forward.text));
    }
    const auto [other, fresh] = taken.emplace(input.index, &input);
    if (!fresh) {
      return Error::InvalidArg(StrCat("unable to load model '", config.name, "': inputs '",
                                      other->second->name, "' and '", input.name,
                                      "' are both argument ", input.index, " of ", forward.text));
    }
    const Argument& argument = forward.arguments[input.index];
    if (!Agree(input.type, argument.kind)) {
      return Error::InvalidArg(StrCat("unable to load model '", config.name, "': input '",
                                      input.name, "' is configured as ", ConfigTypeName(input.type),
                                      ", but ", Describe(argument), " of the model is ",
                                      KindName(argument.kind)));
    }
    const TensorConfig* const listed = config.FindInput(input.name);
    if (listed != nullptr && listed->optional && !argument.defaulted) {
      return Error::InvalidArg(StrCat("unable to load model '", config.name, "': input '",
                                      input.name, "' is optional, but ", Describe(argument),
                                      " of the model has no default"));
    }
  }
  for (size_t i = 0; i < forward.arguments.size(); ++i) {
    if (forward.arguments[i].defaulted || taken.count(i) > 0) continue;
    return Error::InvalidArg(
        StrCat("unable to load model '", config.name, "', configuration expects ", inputs.size(),
               " inputs, model provides ", forward.arguments.size(), ": no input for ",
               Describe(forward.arguments[i]), " of ", forward.text));
  }
  return Error();
}

// Compares the types in the file with those in the configuration. The texts are Triton's.
Error CheckReturned(const ModelConfig& config, const Forward& forward,
                    const std::vector<Named>& outputs) {
  for (const Named& output : outputs) {
    if (output.index >= forward.returned.size()) {
      return Error::InvalidArg(StrCat("unable to load model '", config.name, "': The output ",
                                      output.name,
                                      " in the model configuration refers to an output index "
                                      "which doesn't exist. This model has ",
                                      forward.returned.size(), " outputs"));
    }
    const Returned& returned = forward.returned[output.index];
    if (Agree(output.type, returned.kind)) continue;
    return Error::InvalidArg(StrCat("unable to load model '", config.name, "': output '",
                                    output.name, "' is configured as ", ConfigTypeName(output.type),
                                    ", but output ", output.index, " of the model is ",
                                    KindName(returned.kind)));
  }
  return Error();
}

Error NotGiven(const ModelConfig& config, const char* what) {
  return Error::Internal(StrCat("unable to load model '", config.name,
                                "': model configuration must contain at least one ", what,
                                ", none were specified."));
}

}  // namespace

Result<std::vector<Named>> NameInputs(const ModelConfig& config, const Forward& forward) {
  NB_ASSIGN_OR_RETURN(std::vector<Named> inputs, ListInputs(config));
  if (inputs.empty()) return NotGiven(config, "input");
  if (!forward.takes_dictionary) {
    IndexList(forward.arguments, &inputs);
    const bool named = std::all_of(inputs.begin(), inputs.end(), [&](const Named& input) {
      return IsArgument(forward, input.name);
    });
    if (!named) WarnOfOrder(config, inputs, true);
    NB_RETURN_IF_ERROR(RequireNamesBesideStates(config, inputs, named));
  }
  for (const ControlConfig& control : config.controls) {
    Named tensor{control.input, control.type, 0};
    if (!forward.takes_dictionary) NB_RETURN_IF_ERROR(IndexControl(forward, control, &tensor));
    inputs.push_back(std::move(tensor));
  }
  for (const StateConfig& state : config.states) {
    const std::optional<size_t> index = IndexByAnyRule(forward.arguments, state.input_name);
    if (!forward.takes_dictionary && !index.has_value()) {
      return StateNotIndexed(config, state.input_name);
    }
    inputs.push_back({state.input_name, state.type, index.value_or(0)});
  }
  if (forward.takes_dictionary) {
    NB_RETURN_IF_ERROR(CheckDictionary(config, inputs, "input"));
  } else {
    NB_RETURN_IF_ERROR(CheckArguments(config, forward, inputs));
  }
  return inputs;
}

Result<std::vector<Named>> NameOutputs(const ModelConfig& config, const Forward& forward) {
  std::vector<Named> outputs;
  for (const TensorConfig& output : config.outputs)
    outputs.push_back({output.name, output.type, 0});
  if (outputs.empty()) return NotGiven(config, "output");
  if (!forward.gives_dictionary) {
    IndexList(forward.returned, &outputs);
    const bool named = std::all_of(outputs.begin(), outputs.end(), [&](const Named& output) {
      return IndexOfName(forward.returned, output.name).has_value();
    });
    if (!named) WarnOfOrder(config, outputs, false);
    NB_RETURN_IF_ERROR(RequireNamesBesideStates(config, outputs, named));
  }
  for (const StateConfig& state : config.states) {
    if (config.FindOutput(state.output_name) != nullptr) continue;
    const std::optional<size_t> index = IndexByAnyRule(forward.returned, state.output_name);
    if (!forward.gives_dictionary && !index.has_value()) {
      return StateNotIndexed(config, state.output_name);
    }
    outputs.push_back({state.output_name, state.type, index.value_or(0)});
  }
  if (forward.gives_dictionary) {
    NB_RETURN_IF_ERROR(CheckDictionary(config, outputs, "output"));
  } else {
    NB_RETURN_IF_ERROR(CheckReturned(config, forward, outputs));
  }
  return outputs;
}

}  // namespace nereid_backend
