// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tfs_request.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/tfs/tensor_proto.h"
#include "frontends/grpc/tree_cost.h"
#include "frontends/tfs/tfs_tensor_reader.h"

namespace nereid {
namespace {

namespace serving = tensorflow::serving;
using google::protobuf::RepeatedPtrField;
using tensorflow::Example;
using tensorflow::Feature;

absl::Status Unknown(const char* kind, absl::string_view key, absl::Span<const TfsTensor> known) {
  return absl::InvalidArgumentError(
      absl::StrCat("the request has the ", kind, " '", key.substr(0, kMaxNameBytes),
                   "', which is none of the signature: ", TfsKeys(known)));
}

// ---- Predict

absl::Status ReadInputs(const serving::PredictRequest& message, const TfsSignature& signature,
                        InferRequest* request, RequestBuffers* buffers) {
  const auto& inputs = message.inputs();
  for (const auto& [key, tensor] : inputs) {
    const auto is_key = [&key = key](const TfsTensor& input) { return input.key == key; };
    if (!absl::c_any_of(signature.inputs, is_key)) return Unknown("input", key, signature.inputs);
  }
  const CompiledModel& model = request->model()->config();
  for (const TfsTensor& input : signature.inputs) {
    const InputSpec& spec = model.inputs[input.index];
    const auto found = inputs.find(input.key);
    if (found != inputs.end()) {
      RETURN_IF_ERROR(AddTensorProto(input.key, found->second, spec, request, buffers));
    } else if (!spec.optional) {
      return absl::InvalidArgumentError(
          absl::StrCat("the request lacks the input '", input.key, "' of the signature"));
    }
  }
  return absl::OkStatus();
}

// The outputs that `message` asks for; all if it asks for none.
absl::StatusOr<std::vector<TfsTensor>> FilterOutputs(const serving::PredictRequest& message,
                                                     const TfsSignature& signature) {
  if (message.output_filter().empty()) return signature.outputs;
  for (const std::string& key : message.output_filter()) {
    const auto is_key = [&key](const TfsTensor& output) { return output.key == key; };
    if (!absl::c_any_of(signature.outputs, is_key)) {
      return Unknown("output", key, signature.outputs);
    }
  }
  std::vector<TfsTensor> wanted;
  for (const TfsTensor& output : signature.outputs) {
    if (absl::c_linear_search(message.output_filter(), output.key)) wanted.push_back(output);
  }
  return wanted;
}

// ---- Classify and Regress

// The examples of a request, and what they share.
struct Examples {
  const RepeatedPtrField<Example>* list = nullptr;
  const Example* context = nullptr;  // null: they share nothing
};

Examples ExamplesOf(const serving::Input& input) {
  if (!input.has_example_list_with_context()) return {&input.example_list().examples(), nullptr};
  const serving::ExampleListWithContext& both = input.example_list_with_context();
  return {&both.examples(), both.has_context() ? &both.context() : nullptr};
}

const Feature* Find(const Example& example, const std::string& key) {
  const auto& features = example.features().feature();
  const auto found = features.find(key);
  return found == features.end() ? nullptr : &found->second;
}

// Reads examples as inputs of a signature.
class ExampleReader {
 public:
  ExampleReader(const Examples& examples, const TfsSignature& signature, InferRequest* request,
                RequestBuffers* buffers)
      : examples_(examples), signature_(signature), request_(request), buffers_(buffers) {}

  absl::Status Read() {
    if (examples_.list->empty()) {
      return absl::InvalidArgumentError("the request needs examples, at least one");
    }
    if (TakesExamples()) return AddSerialized();
    for (const TfsTensor& input : signature_.inputs) RETURN_IF_ERROR(Add(input));
    return absl::OkStatus();
  }

 private:
  const InputSpec& spec(const TfsTensor& input) const {
    return request_->model()->config().inputs[input.index];
  }

  // Whether the only input is no feature, but takes the examples as they are.
  bool TakesExamples() const {
    if (signature_.inputs.size() != 1) return false;
    const TfsTensor& only = signature_.inputs.front();
    if (spec(only).data_type != DataType::kBytes) return false;
    const auto has_it = [&only](const Example& one) { return Find(one, only.key) != nullptr; };
    return (examples_.context == nullptr || !has_it(*examples_.context)) &&
           absl::c_none_of(*examples_.list, has_it);
  }

  // The features of an example and of the context together are the bytes of both together.
  absl::Status AddSerialized() {
    const std::string context =
        examples_.context == nullptr ? "" : examples_.context->SerializeAsString();
    uint64_t size = 0;
    for (const Example& one : *examples_.list) {
      size += sizeof(uint32_t) + context.size() + one.ByteSizeLong();
    }
    const TfsTensor& only = signature_.inputs.front();
    if (!context.empty() && size > kMostFilledBytes) return TooMuchContext(only.key);
    char* const bytes = buffers_->Allocate(static_cast<size_t>(size));
    if (bytes == nullptr) return buffers_->WhyNothing("the examples");
    char* at = bytes;
    std::string text;
    for (const Example& one : *examples_.list) {
      text = context;
      one.AppendToString(&text);
      PutBytesElement(text, &at);
    }
    return AddTfsTensor(spec(only), /*features=*/true, {examples_.list->size()}, bytes,
                        static_cast<size_t>(size), request_);
  }

  absl::Status Add(const TfsTensor& input) {
    const Feature* const common =
        examples_.context == nullptr ? nullptr : Find(*examples_.context, input.key);
    std::vector<const Feature*> rows;
    rows.reserve(static_cast<size_t>(examples_.list->size()));
    for (const Example& one : *examples_.list) {
      const Feature* const own = Find(one, input.key);
      if (own != nullptr && common != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("the feature '", input.key,
                         "' is in the context and in an example: it may be in one of them"));
      }
      if (const Feature* const feature = own == nullptr ? common : own) rows.push_back(feature);
    }
    if (rows.empty() && spec(input).optional) return absl::OkStatus();
    if (rows.size() < static_cast<size_t>(examples_.list->size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("an example lacks the feature '", input.key, "' of the signature"));
    }
    return AddFeatures(input.key, rows, spec(input), request_, buffers_);
  }

  static absl::Status TooMuchContext(absl::string_view key) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input '", key, "' has more than ", kMostFilledBytes,
                     " bytes with the context in each example, which is the most that is allowed"));
  }

  const Examples examples_;
  const TfsSignature& signature_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
};

std::unique_ptr<google::protobuf::Message> NewMessage(TfsMethod method) {
  switch (method) {
    case TfsMethod::kPredict:
      return std::make_unique<serving::PredictRequest>();
    case TfsMethod::kClassify:
      return std::make_unique<serving::ClassificationRequest>();
    case TfsMethod::kRegress:
      break;
  }
  return std::make_unique<serving::RegressionRequest>();
}

const google::protobuf::Descriptor& TypeOf(TfsMethod method) {
  switch (method) {
    case TfsMethod::kPredict:
      return *serving::PredictRequest::descriptor();
    case TfsMethod::kClassify:
      return *serving::ClassificationRequest::descriptor();
    case TfsMethod::kRegress:
      break;
  }
  return *serving::RegressionRequest::descriptor();
}

}  // namespace

absl::StatusOr<TfsModelSpec> ReadModelSpec(const serving::ModelSpec& spec) {
  RETURN_IF_ERROR(CheckLength("name of the model", spec.name()));
  TfsModelSpec read;
  read.name = spec.name();
  if (spec.has_version()) read.version = spec.version().value();
  read.label = spec.version_label();
  return read;
}

bool TfsRequest::ParsesQuickly(absl::string_view bytes) const {
  const std::optional<TreeCost> cost = ForetellTree(TypeOf(method_), bytes, kMostInlineProtoBytes);
  // A malformed one will be refused as quickly.
  return !cost.has_value() || cost->work <= kMostInlineProtoBytes;
}

absl::Status TfsRequest::Parse(absl::string_view bytes, Budget* budget,
                               const std::shared_ptr<Holder>& holder) {
  std::unique_ptr<google::protobuf::Message> message = NewMessage(method_);
  ASSIGN_OR_RETURN(units_, ParseCharged(bytes, budget, holder, message.get()));
  message_ = std::move(message);
  return absl::OkStatus();
}

bool TfsRequest::ReadsQuickly() const {
  if (method_ == TfsMethod::kPredict) {
    return absl::c_all_of(predict().inputs(), [](const auto& input) {
      return FilledBytes(input.second) <= kMostInlineProtoBytes;
    });
  }
  const Examples examples = ExamplesOf(input());
  return examples.context == nullptr ||
         examples.context->ByteSizeLong() * static_cast<uint64_t>(examples.list->size()) <=
             kMostInlineProtoBytes;
}

const serving::PredictRequest& TfsRequest::predict() const {
  return static_cast<const serving::PredictRequest&>(*message_);
}

const serving::Input& TfsRequest::input() const {
  return method_ == TfsMethod::kClassify
             ? static_cast<const serving::ClassificationRequest&>(*message_).input()
             : static_cast<const serving::RegressionRequest&>(*message_).input();
}

const serving::ModelSpec& TfsRequest::model_spec() const {
  switch (method_) {
    case TfsMethod::kPredict:
      return predict().model_spec();
    case TfsMethod::kClassify:
      return static_cast<const serving::ClassificationRequest&>(*message_).model_spec();
    case TfsMethod::kRegress:
      break;
  }
  return static_cast<const serving::RegressionRequest&>(*message_).model_spec();
}

absl::Status TfsRequest::Read(InferRequest* request, RequestBuffers* buffers,
                              TfsAnswer* answer) const {
  const CompiledModel& model = request->model()->config();
  answer->call.method = method_;
  answer->signature_name = model_spec().signature_name();
  RETURN_IF_ERROR(FindTfsSignature(answer->signature_name, model, &answer->call));
  if (answer->signature_name.empty()) answer->signature_name = kTfsDefaultSignature;
  const TfsSignature& signature = *answer->call.signature;
  if (method_ == TfsMethod::kPredict) {
    RETURN_IF_ERROR(ReadInputs(predict(), signature, request, buffers));
    ASSIGN_OR_RETURN(answer->outputs, FilterOutputs(predict(), signature));
  } else {
    RETURN_IF_ERROR(ExampleReader(ExamplesOf(input()), signature, request, buffers).Read());
    answer->outputs = signature.outputs;
  }
  for (const TfsTensor& output : answer->outputs) {
    RETURN_IF_ERROR(request->AddRequestedOutput(model.outputs[output.index].name));
  }
  return absl::OkStatus();
}

void TfsRequest::Clear(ThreadPool* executor) {
  if (executor != nullptr && message_ != nullptr) {
    struct Tree {
      std::unique_ptr<google::protobuf::Message> message;
      BudgetUnits units;
    };
    std::function<void()> free =
        [tree = std::make_shared<Tree>(Tree{std::move(message_), std::move(units_)})] {};
    // If the executor takes no more, this thread frees it.
    std::ignore = executor->TryRun(std::move(free));
  }
  message_.reset();
  units_.Return();
}

}  // namespace nereid
