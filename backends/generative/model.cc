// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/model.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "backends/generative/loop/answer.h"
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

// A tensor of the model; the optional ones have one element.
struct Tensor {
  const char* name;
  TRITONSERVER_DataType type;
  int64_t dim;
  bool optional;
};
constexpr Tensor kInputs[] = {
    {kInputIds, TRITONSERVER_TYPE_INT64, -1, false},
    {kMaxTokens, TRITONSERVER_TYPE_INT64, 1, true},
    {kStream, TRITONSERVER_TYPE_BOOL, 1, true},
    {kSamplingParameters, TRITONSERVER_TYPE_BYTES, 1, true},
};
constexpr Tensor kOutput = {kOutputIds, TRITONSERVER_TYPE_INT64, -1, false};

Json ToJson(const Tensor& tensor) {
  Json json = Json::MakeObject();
  json.Set("name", tensor.name);
  json.Set("data_type", ConfigTypeName(tensor.type));
  json.Set("dims", JsonInts({tensor.dim}));
  if (tensor.optional) json.Set("optional", true);
  return json;
}

Error Check(const ModelConfig& config, const TensorConfig& given, const Tensor* expected) {
  if (expected != nullptr && given.type == expected->type && given.model_dims().size() == 1) {
    return Error();
  }
  if (expected == nullptr) {
    return Error::InvalidArg(StrCat(
        "unable to load model '", config.name, "': the configuration has a tensor '", given.name,
        "': expected the inputs input_ids, max_tokens, stream and sampling_parameters and the "
        "output output_ids"));
  }
  return Error::InvalidArg(StrCat("unable to load model '", config.name, "': '", given.name,
                                  "' is ", ConfigTypeName(given.type), " ",
                                  ShapeToString(given.model_dims()), ": expected ",
                                  ConfigTypeName(expected->type), " [", expected->dim, "]"));
}

// The object in the file `path`; an empty one if there is no file.
Result<Json> ReadObject(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Json::MakeObject();
  std::ostringstream text;
  text << file.rdbuf();
  Result<Json> json = Json::Parse(text.str());
  if (json.ok()) return json;
  return Error::InvalidArg(StrCat("'", path.string(), "' is no JSON: ", json.error().message()));
}

// One token, or an array of them.
std::vector<Token> TokensIn(const Json& json) {
  if (json.is_int()) return {json.AsInt()};
  return json.AsInts();
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
  if (config_.auto_complete) NB_RETURN_IF_ERROR(Complete(handle));
  NB_RETURN_IF_ERROR(CheckConfig());
  NB_ASSIGN_OR_RETURN(const std::filesystem::path path, FindModelFile(config_, kFiles));
  NB_RETURN_IF_ERROR(ReadNotes(path.parent_path().string()));
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
              limits_.context == 0 ? "unknown" : StrCat(limits_.context, " tokens"));
  return Error();
}

Error GenerativeModel::Complete(TRITONBACKEND_Model* handle) {
  Json json = config_.json;
  if (config_.inputs.empty()) {
    Json::Array inputs;
    for (const Tensor& tensor : kInputs) inputs.push_back(ToJson(tensor));
    json.Set("input", std::move(inputs));
  }
  if (config_.outputs.empty()) json.Set("output", Json::Array{ToJson(kOutput)});
  Json policy = Json::MakeObject();
  policy.Set("decoupled", true);
  json.Set("model_transaction_policy", std::move(policy));
  NB_RETURN_IF_ERROR(SetModelConfig(handle, json));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(handle));
  return Error();
}

Error GenerativeModel::CheckConfig() const {
  if (config_.batching()) {
    return Error::InvalidArg(StrCat(
        "unable to load model '", config_.name, "': max_batch_size is ", config_.max_batch_size,
        ": expected 0, because the backend itself computes requests together"));
  }
  if (!config_.decoupled) {
    return Error::InvalidArg(StrCat("unable to load model '", config_.name,
                                    "': model_transaction_policy has to say decoupled: true"));
  }
  for (const TensorConfig& input : config_.inputs) {
    const auto* const found =
        std::find_if(std::begin(kInputs), std::end(kInputs),
                     [&](const Tensor& one) { return input.name == one.name; });
    NB_RETURN_IF_ERROR(Check(config_, input, found == std::end(kInputs) ? nullptr : found));
  }
  for (const TensorConfig& output : config_.outputs) {
    NB_RETURN_IF_ERROR(Check(config_, output, output.name == kOutput.name ? &kOutput : nullptr));
  }
  if (config_.FindInput(kInputIds) != nullptr && !config_.outputs.empty()) return Error();
  return Error::InvalidArg(StrCat("unable to load model '", config_.name,
                                  "': the configuration has to have the input ", kInputIds,
                                  " and the output ", kOutputIds));
}

Error GenerativeModel::ReadNotes(const std::string& folder) {
  NB_ASSIGN_OR_RETURN(const Json config, ReadObject(std::filesystem::path(folder) / "config.json"));
  NB_ASSIGN_OR_RETURN(const Json generation,
                      ReadObject(std::filesystem::path(folder) / "generation_config.json"));
  limits_.context = std::max<int64_t>(config["max_position_embeddings"].AsInt(), 0);
  // The second file is about generation alone, and is the newer one of the two.
  end_tokens_ = TokensIn(generation["eos_token_id"]);
  if (end_tokens_.empty()) end_tokens_ = TokensIn(config["eos_token_id"]);
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
  return Error();
}

GenerativeInstance::GenerativeInstance(TRITONBACKEND_ModelInstance* handle,
                                       const GenerativeModel& model,
                                       std::unique_ptr<StepNetwork> network)
    : handle_(handle),
      model_(model),
      loop_(std::move(network), model.scheduling(), model.end_tokens()) {}

Result<std::unique_ptr<GenerativeInstance>> GenerativeInstance::Create(
    TRITONBACKEND_ModelInstance* handle, const GenerativeModel& model) {
  NB_ASSIGN_OR_RETURN(std::unique_ptr<StepNetwork> network,
                      PagedNetwork::Create(model.network(), model.scheduling().blocks));
  return std::unique_ptr<GenerativeInstance>(
      new GenerativeInstance(handle, model, std::move(network)));
}

Error GenerativeInstance::Begin(TRITONBACKEND_Request* request) {
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, request));
  OwnedFactory owned(factory);
  Result<Generation> wanted = ReadGeneration(request, model_.limits());
  const bool stream = wanted.ok() && wanted->stream;
  auto answer = std::make_unique<ResponseAnswer>(handle_, std::move(owned), stream);
  if (wanted.ok()) {
    loop_.Add(*std::move(wanted), std::move(answer));
    return Error();
  }
  answer->Fail(wanted.error());
  return wanted.TakeError();
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
