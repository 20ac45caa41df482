// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/script_network.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "backends/pytorch/modes.h"
#include "backends/pytorch/script_traits.h"
#include "backends/pytorch/torch_error.h"
#include "backends/sdk/error.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

// INVALID_ARG if the tensors of `module`, loaded from the file `path`, are together larger than the
// data in the file. May throw what PyTorch throws.
Error CheckConstants(const std::string& path, const torch::jit::Module& module) {
  uint64_t announced = 0;
  std::set<const void*> seen;  // storages that were counted, because tensors may share one
  for (const c10::IValue& attribute : module.attributes(/*recurse=*/true)) {
    if (!attribute.isTensor() || !attribute.toTensor().defined()) continue;
    const at::Tensor& tensor = attribute.toTensor();
    if (!tensor.has_storage()) continue;
    const c10::Storage& storage = tensor.storage();
    if (seen.insert(storage.unsafeGetStorageImpl()).second) announced += storage.nbytes();
  }
  caffe2::serialize::PyTorchStreamReader reader(path);
  uint64_t held = 0;
  for (const std::string& record : reader.getAllRecords()) held += reader.getRecordSize(record);
  if (announced <= held) return Error();
  return Error::InvalidArg(StrCat("the file announces tensors of ", announced, " bytes, but holds ",
                                  held, " bytes in all"));
}

bool IsListOfStrings(const c10::Type& type) {
  return type.kind() == c10::TypeKind::ListType &&
         type.containedType(0)->kind() == c10::TypeKind::StringType;
}

// Dict(str, Tensor).
bool IsDictionary(const c10::Type& type) {
  return type.kind() == c10::TypeKind::DictType &&
         type.containedType(0)->kind() == c10::TypeKind::StringType &&
         type.containedType(1)->kind() == c10::TypeKind::TensorType;
}

ValueKind KindOf(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return ValueKind::kTensor;
  if (IsListOfStrings(type)) return ValueKind::kStrings;
  return ValueKind::kOther;
}

Returned DescribeReturned(const c10::Type& type) {
  Returned returned;
  returned.kind = type.kind() == c10::TypeKind::AnyType ? ValueKind::kUnknown : KindOf(type);
  return returned;
}

std::string Describe(const std::vector<c10::Argument>& arguments,
                     const std::vector<c10::Argument>& returns) {
  std::string text = "forward(";
  for (size_t i = 1; i < arguments.size(); ++i) {
    const c10::Argument& argument = arguments[i];
    text += StrCat(i > 1 ? ", " : "", argument.name(), ": ", argument.type()->annotation_str(),
                   argument.default_value().has_value() ? " = ..." : "");
  }
  text += ")";
  if (returns.size() == 1) text += " -> " + returns[0].type()->annotation_str();
  return text;
}

}  // namespace

torch::jit::Module Frozen(const torch::jit::Module& module, const std::string& path) {
  torch::jit::Module frozen = module;
  Error error = TorchTry("", [&] {
    // Without passes that change the rounding of results.
    frozen = torch::jit::freeze(module, std::nullopt, /*optimize_numerics=*/false);
    return Error();
  });
  if (!error.ok()) {
    NB_LOG_VERBOSE("'", path,
                   "' runs as it is, because PyTorch cannot freeze it: ", error.message());
  }
  return frozen;
}

Result<std::unique_ptr<Network>> ScriptNetwork::Load(const std::string& path,
                                                     const Parameters& parameters) {
  std::unique_ptr<ScriptNetwork> network(new ScriptNetwork(parameters));
  const Modes modes(parameters);
  network->module_ = torch::jit::load(path, c10::Device(c10::DeviceType::CPU));
  NB_RETURN_IF_ERROR(CheckConstants(path, network->module_));
  network->module_.eval();
  network->method_ = network->module_.find_method("forward");
  if (!network->method_.has_value()) {
    return Error::InvalidArg("the module has no method 'forward'");
  }
  NB_RETURN_IF_ERROR(network->ReadForward());
  network->traits_ = TraitsOf(*network->method_);
  if (parameters.optimized_execution && !network->traits_.writes_attributes) {
    network->module_ = Frozen(network->module_, path);
    network->method_ = network->module_.get_method("forward");
  }
  return std::unique_ptr<Network>(std::move(network));
}

Error ScriptNetwork::ReadForward() {
  const c10::FunctionSchema& schema = method_->function().getSchema();
  forward_.text = Describe(schema.arguments(), schema.returns());
  NB_RETURN_IF_ERROR(ReadArguments(schema.arguments()));
  ReadReturned(schema.returns());
  return Error();
}

Error ScriptNetwork::ReadArguments(const std::vector<c10::Argument>& arguments) {
  const size_t count = arguments.size() - 1;  // the first is the module
  for (size_t i = 1; i < arguments.size(); ++i) {
    const c10::Argument& declared = arguments[i];
    const c10::TypePtr& type = declared.type();
    if (IsDictionary(*type)) {
      takes_tensors_ = false;
      forward_.takes_dictionary = count == 1;
      if (count == 1) return Error();
      return Error::Internal(
          "Multiple inputs of kind DictType were detected. Only a single input of type Dict(str, "
          "Tensor) is supported.");
    }
    const bool is_optional = type->kind() == c10::TypeKind::OptionalType;
    Argument argument;
    argument.names = {declared.name()};
    argument.type = type->annotation_str();
    argument.kind = KindOf(is_optional ? *type->containedType(0) : *type);
    takes_tensors_ = takes_tensors_ && *type == *c10::TensorType::get();
    argument.defaulted = is_optional || declared.default_value().has_value();
    if (argument.kind == ValueKind::kOther && !argument.defaulted) {
      return Error::Internal(StrCat("An input of type '", argument.type,
                                    "' was detected in the model. Only a single input of type "
                                    "Dict(str, Tensor) or input(s) of type Tensor are supported."));
    }
    forward_.arguments.push_back(std::move(argument));
    defaults_.push_back(declared.default_value().value_or(c10::IValue()));
  }
  return Error();
}

void ScriptNetwork::ReadReturned(const std::vector<c10::Argument>& returns) {
  for (const c10::Argument& declared : returns) {
    const c10::Type& type = *declared.type();
    forward_.gives_dictionary = IsDictionary(type);
    if (forward_.gives_dictionary) return;
    if (type.kind() == c10::TypeKind::TupleType) {
      for (const c10::TypePtr& element : type.containedTypes()) {
        forward_.returned.push_back(DescribeReturned(*element));
      }
    } else {
      forward_.returned.push_back(DescribeReturned(type));
    }
  }
}

bool ScriptNetwork::AreTensors(const std::vector<c10::IValue>& arguments) const {
  return takes_tensors_ && arguments.size() == defaults_.size() &&
         std::all_of(arguments.begin(), arguments.end(),
                     [](const c10::IValue& argument) { return argument.isTensor(); });
}

std::vector<c10::IValue> ScriptNetwork::Run(std::vector<c10::IValue> arguments) const {
  if (!forward_.takes_dictionary) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].isNone()) arguments[i] = defaults_[i];
    }
  }
  c10::IValue result;
  if (AreTensors(arguments)) {
    // Without PyTorch's own check of the types, which costs a small network 2 % of its time.
    torch::jit::Stack stack;
    stack.reserve(1 + arguments.size());
    stack.emplace_back(module_._ivalue());
    std::move(arguments.begin(), arguments.end(), std::back_inserter(stack));
    method_->function().run(stack);
    result = std::move(stack.back());
  } else {
    result = (*method_)(std::move(arguments));
  }
  if (!result.isTuple()) return {std::move(result)};
  return result.toTuple()->elements().vec();
}

Result<std::unique_ptr<Network>> LoadScript(const std::string& path, const Parameters& parameters) {
  return ScriptNetwork::Load(path, parameters);
}

}  // namespace nereid_backend
