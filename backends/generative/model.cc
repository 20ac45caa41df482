// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/model.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "backends/generative/loop/answer.h"
#include "backends/generative/notes.h"
#include "backends/generative/options.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/json.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_file.h"
#include "backends/sdk/options.h"
#include "backends/sdk/response_factory.h"

namespace nereid_backend {
namespace {

constexpr const char* kFiles[] = {"openvino_model.xml"};

// A tensor of the model. `of_text`: only of one with a tokenizer.
struct Tensor {
  const char* name;
  TRITONSERVER_DataType type;
  int64_t dim;
  bool of_text = false;
};
constexpr Tensor kInputs[] = {
    {kTextInput, TRITONSERVER_TYPE_BYTES, 1, true},    {kInputIds, TRITONSERVER_TYPE_INT64, -1},
    {kMaxTokens, TRITONSERVER_TYPE_INT64, 1},          {kStream, TRITONSERVER_TYPE_BOOL, 1},
    {kSamplingParameters, TRITONSERVER_TYPE_BYTES, 1},
};
constexpr Tensor kOutputs[] = {
    {kTextOutput, TRITONSERVER_TYPE_BYTES, -1, true}, {kOutputIds, TRITONSERVER_TYPE_INT64, -1},
    {kLogprobs, TRITONSERVER_TYPE_BYTES, -1},         {kFinishReason, TRITONSERVER_TYPE_BYTES, -1},
    {kInputCount, TRITONSERVER_TYPE_UINT32, 1},       {kOutputCount, TRITONSERVER_TYPE_UINT32, -1},
};
// Fields of OpenAI's routes that sampling_parameters may hold besides those that all models take.
constexpr const char* kFurtherFields =
    "ignore_eos,include_stop_str_in_output,logit_bias,min_p,min_tokens,n,priority,"
    "repetition_penalty,stop_token_ids,top_k";

using Tensors = std::span<const Tensor>;

std::string NamesOf(Tensors tensors, bool with_text) {
  std::string names;
  for (const Tensor& tensor : tensors) {
    if (tensor.of_text && !with_text) continue;
    names += StrCat(names.empty() ? "" : ", ", tensor.name);
  }
  return names;
}

// All but the prompt may be left out, and so may a prompt of tokens where one of text will do.
Json ToJson(const Tensor& tensor, bool is_optional) {
  Json json = Json::MakeObject();
  json.Set("name", tensor.name);
  json.Set("data_type", ConfigTypeName(tensor.type));
  json.Set("dims", JsonInts({tensor.dim}));
  if (is_optional) json.Set("optional", true);
  return json;
}

Json::Array ToJson(Tensors tensors, bool are_inputs, bool with_text) {
  Json::Array array;
  for (const Tensor& tensor : tensors) {
    if (tensor.of_text && !with_text) continue;
    const bool is_prompt = std::string_view(tensor.name) == kInputIds;
    array.push_back(ToJson(tensor, are_inputs && (with_text || !is_prompt)));
  }
  return array;
}

Error Check(const ModelConfig& config, const TensorConfig& given, Tensors known, bool with_text) {
  const auto expected = std::find_if(known.begin(), known.end(), [&](const Tensor& one) {
    return given.name == one.name && (with_text || !one.of_text);
  });
  if (expected == known.end()) {
    return Error::InvalidArg(
        StrCat("unable to load model '", config.name, "': the configuration has a tensor '",
               given.name, "': expected the inputs ", NamesOf(kInputs, with_text),
               " and the outputs ", NamesOf(kOutputs, with_text),
               with_text ? "" : ", because there is no openvino_tokenizer.xml"));
  }
  if (given.type == expected->type && given.model_dims().size() == 1) return Error();
  return Error::InvalidArg(StrCat("unable to load model '", config.name, "': '", given.name,
                                  "' is ", ConfigTypeName(given.type), " ",
                                  ShapeToString(given.model_dims()), ": expected ",
                                  ConfigTypeName(expected->type), " [", expected->dim, "]"));
}

}  // namespace

Result<std::unique_ptr<GenerativeBackend>> GenerativeBackend::Create(
    TRITONBACKEND_Backend* backend) {
  NB_RETURN_IF_ERROR(RequireApi(19));
  NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(backend));
  NB_RETURN_IF_ERROR(ReadSettings(kGenerativeOptions, cmdline).TakeError());
  return std::make_unique<GenerativeBackend>();
}

Result<std::unique_ptr<GenerativeModel>> GenerativeModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<GenerativeModel> model(new GenerativeModel(std::move(config)));
  NB_RETURN_IF_ERROR(model->Load(handle));
  return model;
}

Error GenerativeModel::Load(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kGenerativeOptions, config_));
  NB_ASSIGN_OR_RETURN(const std::filesystem::path path, FindModelFile(config_, kFiles));
  NB_RETURN_IF_ERROR(LoadTokenizer(handle, path.parent_path()));
  NB_RETURN_IF_ERROR(ReadNotes(path.parent_path()));
  if (config_.auto_complete) NB_RETURN_IF_ERROR(Complete(handle));
  NB_RETURN_IF_ERROR(CheckConfig());
  PagedModelOptions options;
  options.threads = static_cast<int>(given.Integer("INFERENCE_NUM_THREADS").value_or(0));
  if (options.threads == 0) options.threads = ReadCpuBudget().threads;
  options.precision = given.Text("INFERENCE_PRECISION_HINT").value_or("");
  NB_ASSIGN_OR_RETURN(network_, PagedModel::Load(path.string(), options));
  limits_.vocabulary = network_->vocabulary();
  NB_RETURN_IF_ERROR(SetScheduling(given));
  NB_LOG_INFO("model '", config_.name, "' version ", config_.version,
              ": threads: ", options.threads, "; FP32 is computed in ", network_->precision(),
              "; keys and values: ", scheduling_.blocks, " blocks for ", scheduling_.block_size,
              " tokens in each instance; context: ",
              limits_.context == 0 ? "unknown" : StrCat(limits_.context, " tokens"),
              "; tokenizer: ", tokenizer_ == nullptr ? "none" : "yes",
              "; chat template: ", chat_format_.empty() ? "none" : chat_format_);
  return Error();
}

Error GenerativeModel::Complete(TRITONBACKEND_Model* handle) {
  Json json = config_.json;
  const bool with_text = tokenizer_ != nullptr;
  if (config_.inputs.empty()) json.Set("input", ToJson(kInputs, true, with_text));
  if (config_.outputs.empty()) json.Set("output", ToJson(kOutputs, false, with_text));
  if (with_text) json.Set("parameters", TextParameters());
  Json policy = Json::MakeObject();
  policy.Set("decoupled", true);
  json.Set("model_transaction_policy", std::move(policy));
  NB_RETURN_IF_ERROR(SetModelConfig(handle, json));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(handle));
  return Error();
}

Json GenerativeModel::TextParameters() const {
  Json parameters = config_.json["parameters"];
  const auto add = [&parameters](const char* name, std::string_view value) {
    if (parameters.Has(name) || value.empty()) return;
    Json parameter = Json::MakeObject();
    parameter.Set("string_value", std::string(value));
    parameters.Set(name, std::move(parameter));
  };
  add("openai.chat_template", chat_format_);
  add("openai.takes", kFurtherFields);
  return parameters;
}

Error GenerativeModel::CheckConfig() {
  if (config_.batching()) {
    return Error::InvalidArg(StrCat(
        "unable to load model '", config_.name, "': max_batch_size is ", config_.max_batch_size,
        ": expected 0, because the backend itself computes requests together"));
  }
  if (!config_.decoupled) {
    return Error::InvalidArg(StrCat("unable to load model '", config_.name,
                                    "': model_transaction_policy has to say decoupled: true"));
  }
  return CheckTensors();
}

Error GenerativeModel::CheckTensors() {
  const bool with_text = tokenizer_ != nullptr;
  for (const TensorConfig& input : config_.inputs) {
    NB_RETURN_IF_ERROR(Check(config_, input, kInputs, with_text));
  }
  for (const TensorConfig& output : config_.outputs) {
    NB_RETURN_IF_ERROR(Check(config_, output, kOutputs, with_text));
    const bool is_counted = output.name != kInputCount;
    if (is_counted && output.model_dims()[0] != -1) limits_.one_choice = true;
  }
  const auto has = [this](const char* name) { return config_.FindInput(name) != nullptr; };
  if ((has(kInputIds) || has(kTextInput)) && !config_.outputs.empty()) return Error();
  return Error::InvalidArg(
      StrCat("unable to load model '", config_.name, "': the configuration has no ",
             config_.outputs.empty() ? "output" : "prompt", ": expected the input ", kInputIds,
             with_text ? StrCat(" or ", kTextInput) : "", ", and the output ",
             with_text ? kTextOutput : kOutputIds));
}

Error GenerativeModel::LoadTokenizer(TRITONBACKEND_Model* handle,
                                     const std::filesystem::path& folder) {
  TRITONBACKEND_Backend* backend = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelBackend(handle, &backend));
  NB_ASSIGN_OR_RETURN(const std::string libraries, BackendFolder(backend));
  NB_ASSIGN_OR_RETURN(tokenizer_, TextModel::Load(folder, libraries));
  return Error();
}

Error GenerativeModel::ReadNotes(const std::filesystem::path& folder) {
  NB_ASSIGN_OR_RETURN(ModelNotes notes, ReadModelNotes(folder));
  limits_.context = notes.context;
  end_tokens_ = std::move(notes.end_tokens);
  if (tokenizer_ == nullptr) return Error();
  if (end_tokens_.empty() && tokenizer_->end_token()) end_tokens_ = {*tokenizer_->end_token()};
  if (notes.chat_template.empty()) notes.chat_template = tokenizer_->chat_template();
  chat_format_ = ChatFormatOf(notes.chat_template);
  return Error();
}

Error GenerativeModel::SetScheduling(const OptionValues& given) {
  const int64_t bytes = given.Integer("kv_cache_bytes").value_or(int64_t{256} << 20);
  const int64_t blocks = bytes / network_->block_bytes();
  if (blocks < 1) {
    return Error::InvalidArg(StrCat("unable to load model '", config_.name,
                                    "': parameter 'kv_cache_bytes' is ", bytes, ": expected ",
                                    network_->block_bytes(), " or more, the size of a block"));
  }
  scheduling_.blocks = static_cast<int32_t>(std::min<int64_t>(blocks, INT32_MAX));
  scheduling_.block_size = network_->block_size();
  scheduling_.max_step_tokens = given.Integer("max_step_tokens").value_or(256);
  const int64_t sequences =
      given.Integer("max_sequences").value_or(std::min<int64_t>(64, scheduling_.max_step_tokens));
  if (sequences > scheduling_.max_step_tokens) {
    return Error::InvalidArg(StrCat(
        "unable to load model '", config_.name, "': parameter 'max_sequences' is ", sequences,
        ": expected at most ", scheduling_.max_step_tokens, ", which is 'max_step_tokens'"));
  }
  scheduling_.max_sequences = static_cast<size_t>(sequences);
  scheduling_.max_waiting = static_cast<size_t>(given.Integer("max_waiting").value_or(1024));
  scheduling_.prefix_cache = given.Bool("prefix_cache").value_or(true);
  limits_.default_priority =
      given.Integer("default_priority_level").value_or(limits_.default_priority);
  limits_.default_max_tokens =
      given.Integer("default_max_tokens").value_or(limits_.default_max_tokens);
  limits_.memory = int64_t{scheduling_.blocks} * scheduling_.block_size;
  return Error();
}

GenerativeInstance::GenerativeInstance(TRITONBACKEND_ModelInstance* handle,
                                       const GenerativeModel& model,
                                       std::unique_ptr<StepNetwork> network,
                                       std::unique_ptr<Tokenizer> tokenizer,
                                       std::unique_ptr<LoopMeter> meter)
    : handle_(handle),
      model_(model),
      tokenizer_(std::move(tokenizer)),
      loop_(std::move(network), model.scheduling(), model.end_tokens(), std::move(meter)) {}

Result<std::unique_ptr<GenerativeInstance>> GenerativeInstance::Create(
    TRITONBACKEND_ModelInstance* handle, const GenerativeModel& model) {
  NB_ASSIGN_OR_RETURN(std::unique_ptr<StepNetwork> network,
                      PagedNetwork::Create(model.network(), model.scheduling().blocks));
  std::unique_ptr<Tokenizer> tokenizer;
  if (model.tokenizer() != nullptr) {
    NB_ASSIGN_OR_RETURN(tokenizer, TextNetwork::Create(*model.tokenizer()));
  }
  Result<std::unique_ptr<LoopMeter>> meter =
      MakeMetricsMeter(model.config().name, model.config().version);
  if (!meter.ok()) {
    NB_LOG_INFO("model '", model.config().name, "': no metrics: ", meter.error().message());
    meter = std::unique_ptr<LoopMeter>();
  }
  return std::unique_ptr<GenerativeInstance>(new GenerativeInstance(
      handle, model, std::move(network), std::move(tokenizer), std::move(*meter)));
}

Error GenerativeInstance::Begin(TRITONBACKEND_Request* request) {
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, request));
  OwnedFactory owned(factory);
  auto answer = std::make_unique<ResponseAnswer>(
      handle_, std::move(owned), AnswerOutputs::Of(request, model_.config()), tokenizer_.get());
  Result<Generation> wanted = ReadGeneration(request, model_.limits(), tokenizer_.get());
  Error error = wanted.ok() ? answer->Begin(*wanted) : wanted.TakeError();
  if (!error.ok()) {
    answer->Fail(error);
    return error;
  }
  loop_.Add(std::move(*wanted), std::move(answer));
  return Error();
}

void GenerativeInstance::Execute(TRITONBACKEND_Request** requests, uint32_t count) {
  const uint64_t start = NowNs();
  for (uint32_t i = 0; i < count; ++i) {
    const bool taken = Guarded("ModelInstanceExecute", [&] { return Begin(requests[i]); }).ok();
    const uint64_t end = NowNs();
    NB_LOG_IF_ERROR(TRITONBACKEND_ModelInstanceReportStatistics(handle_, requests[i], taken, start,
                                                                start, end, end),
                    "request statistics");
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL),
                    "release");
  }
  const uint64_t end = NowNs();
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ModelInstanceReportBatchStatistics(handle_, count, start, start, end, end),
      "batch statistics");
}

}  // namespace nereid_backend
