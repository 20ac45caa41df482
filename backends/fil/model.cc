// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "backends/fil/lightgbm.h"
#include "backends/fil/options.h"
#include "backends/fil/treelite.h"
#include "backends/fil/xgboost.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/graph/autocomplete.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_file.h"

namespace nereid_backend {
namespace {

constexpr const char* kInput = "input__0";
constexpr const char* kOutput = "output__0";

// One value of the parameter model_type, and the file that Triton's backend expects for it.
struct FileKind {
  std::string_view type;
  const char* file;
  // Null: such a file is refused, and `instead` says what to do.
  Result<Forest> (*read)(std::string_view) = nullptr;
  const char* instead = "";
};

constexpr FileKind kKinds[] = {
    {"xgboost_json", "xgboost.json", &ReadXgboostJson},
    {"xgboost_ubj", "xgboost.ubj", &ReadXgboostUbjson},
    {"lightgbm", "model.txt", &ReadLightgbm},
    {"treelite_checkpoint", "checkpoint.tl", &ReadTreelite},
    {"xgboost", "xgboost.model", nullptr,
     "XGBoost's old binary format is not read; load the model with XGBoost before 3.1, save it as "
     "xgboost.json or xgboost.ubj, and set model_type accordingly"},
};

const FileKind* KindOfType(std::string_view type) {
  return std::find_if(std::begin(kKinds), std::end(kKinds),
                      [&](const FileKind& kind) { return kind.type == type; });
}

constexpr std::string_view kTreelite3("\3\0\0\0", 4);
constexpr std::string_view kTreelite4("\4\0\0\0", 4);

// By the content, for a model without model_type.
const FileKind* KindOfContent(std::string_view bytes) {
  if (bytes.starts_with("tree\n") || bytes.starts_with("tree\r")) return KindOfType("lightgbm");
  if (bytes.starts_with("binf")) return KindOfType("xgboost");
  // The version; that of checkpoints that are not read is there to be named.
  for (const std::string_view version : {kTreelite4, kTreelite3}) {
    if (bytes.starts_with(version)) return KindOfType("treelite_checkpoint");
  }
  if (bytes.size() < 2 || bytes[0] != '{') return nullptr;
  const bool is_json = std::string_view(" \t\r\n\"}").find(bytes[1]) != std::string_view::npos;
  return KindOfType(is_json ? "xgboost_json" : "xgboost_ubj");
}

Result<std::string> ReadBytes(const ModelConfig& config, const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  // An empty file makes operator<< fail; the readers say that it is empty.
  if (std::filesystem::is_regular_file(path, ignored) && file) {
    if (file.peek() != std::ifstream::traits_type::eof()) bytes << file.rdbuf();
    if (!file.bad() && !bytes.bad()) return std::move(bytes).str();
  }
  return Error::InvalidArg(StrCat("unable to load model '", config.name, "': '", path.string(),
                                  "' cannot be read as a file"));
}

Result<Forest> ReadForest(const ModelConfig& config, const OptionValues& given) {
  const std::optional<std::string> type = given.Text("model_type");
  const FileKind* kind = type.has_value() ? KindOfType(*type) : nullptr;
  std::vector<const char*> names;
  for (const FileKind& one : kKinds) {
    if (kind == nullptr || kind == &one) names.push_back(one.file);
  }
  NB_ASSIGN_OR_RETURN(const std::filesystem::path path, FindModelFile(config, names));
  const std::string what =
      StrCat("unable to load model '", config.name, "': '", path.string(), "': ");
  if (kind != nullptr && kind->read == nullptr) return Error::Unsupported(what + kind->instead);
  NB_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(config, path));
  if (kind == nullptr) kind = KindOfContent(bytes);
  if (kind == nullptr) {
    return Error::InvalidArg(
        what +
        "it is neither JSON or UBJSON of XGBoost, nor text of LightGBM, nor a checkpoint of "
        "Treelite");
  }
  if (kind->read == nullptr) return Error::Unsupported(what + kind->instead);
  Result<Forest> forest = kind->read(bytes);
  if (!forest.ok()) return Error(forest.error().code(), what + forest.error().message());
  return forest;
}

}  // namespace

Result<std::unique_ptr<FilBackend>> FilBackend::Create(TRITONBACKEND_Backend* handle) {
  NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(handle));
  NB_ASSIGN_OR_RETURN(const OptionValues settings, ReadSettings(kFilOptions, cmdline));
  auto backend = std::make_unique<FilBackend>();
  backend->default_max_batch_size = DefaultMaxBatchSize(settings);
  return backend;
}

Result<std::unique_ptr<FilModel>> FilModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kFilOptions, config));
  NB_ASSIGN_OR_RETURN(Forest forest, ReadForest(config, given));
  std::unique_ptr<FilModel> model(new FilModel(std::move(config), std::move(forest)));
  NB_RETURN_IF_ERROR(model->ReadOutputKind(given));
  const Signature signature = model->MakeSignature();
  if (model->config_.auto_complete) NB_RETURN_IF_ERROR(model->AutoComplete(handle, signature));
  NB_RETURN_IF_ERROR(CheckConfig(model->config_, signature));
  NB_ASSIGN_OR_RETURN(model->bound_, BoundModel::Bind(model->config_, signature));
  NB_LOG_INFO("model '", model->config_.name, "' version ", model->config_.version, ": ",
              model->forest_.trees(), " trees, ", model->features(), " features, ", model->width(),
              model->classes_ ? " class" : " scores", " per row");
  return model;
}

Error FilModel::ReadOutputKind(const OptionValues& given) {
  const bool scores = given.Bool("predict_proba").value_or(false);
  const bool default_classes = forest_.transform.predicts_classes;
  classes_ = !scores && given.Bool("output_class").value_or(default_classes);
  if (classes_ && forest_.has_targets) {
    return Error::InvalidArg(StrCat("parameter 'output_class' of model '", config_.name,
                                    "' asks for a class, but the model has ", forest_.outputs(),
                                    " targets; it has to be false"));
  }
  const TensorConfig* const output = config_.FindOutput(kOutput);
  two_columns_ = scores && forest_.outputs() == 1 && output != nullptr && !output->dims.empty() &&
                 output->dims.back() == 2;
  const std::optional<std::string> threshold = given.Text("threshold");
  if (!threshold.has_value()) return Error();
  const char* const end = threshold->data() + threshold->size();
  const auto [at, code] = std::from_chars(threshold->data(), end, threshold_);
  if (at != end || code != std::errc() || std::isnan(threshold_)) {
    return Error::InvalidArg(StrCat("parameter 'threshold' of model '", config_.name, "' is '",
                                    *threshold, "'; it has to be a number"));
  }
  if (!classes_ || forest_.outputs() > 1) {
    NB_LOG_WARNING("model '", config_.name,
                   "': parameter 'threshold' has no effect, because it is for the class "
                   "(output_class) of a model with one score per row");
  }
  return Error();
}

Signature FilModel::MakeSignature() const {
  Signature signature;
  ModelTensor tensor;
  tensor.name = kInput;
  tensor.type = TRITONSERVER_TYPE_FP32;
  tensor.dims = {-1, static_cast<int64_t>(features())};
  signature.inputs.push_back(tensor);
  tensor.name = kOutput;
  tensor.dims.back() = static_cast<int64_t>(width());
  signature.outputs.push_back(tensor);
  return signature;
}

Error FilModel::AutoComplete(TRITONBACKEND_Model* model, const Signature& signature) {
  NB_ASSIGN_OR_RETURN(const FilBackend* backend, BackendStateOf<FilBackend>(model));
  NB_ASSIGN_OR_RETURN(const Json completed,
                      AutoCompleteConfig(config_, signature, backend->default_max_batch_size));
  NB_RETURN_IF_ERROR(SetModelConfig(model, completed));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(model));
  return Error();
}

void FilModel::Predict(const float* rows, size_t count, float* results) const {
  if (classes_ && forest_.outputs() > 1) return forest_.Classes(rows, count, results);
  forest_.Scores(rows, count, results);
  if (classes_) {
    std::transform(results, results + count, results,
                   [this](float score) { return score > threshold_ ? 1.0f : 0.0f; });
  }
  if (!two_columns_) return;
  // From the back, so that no score is overwritten before it is read.
  for (size_t i = count; i-- > 0;) {
    const float score = results[i];
    results[2 * i] = 1.0f - score;
    results[2 * i + 1] = score;
  }
}

Result<std::unique_ptr<FilInstance>> FilInstance::Create(TRITONBACKEND_ModelInstance*,
                                                         const FilModel& model) {
  return std::unique_ptr<FilInstance>(new FilInstance(model));
}

Error FilInstance::Execute(Batch* batch) {
  executor_.Begin(batch);
  while (executor_.Next()) executor_.End(Compute());
  return Error();
}

Error FilInstance::Compute() {
  RunInput& input = executor_.inputs()[0];
  const char* const rows = input.Contiguous(alignof(float));
  const auto count = static_cast<size_t>(input.shape[0]);
  executor_.batch().MarkComputeStart();
  for (RunOutput& output : executor_.outputs()) {
    const size_t size = count * model_.width();
    results_.resize(output.place == nullptr ? size : 0);
    auto* const results =
        output.place == nullptr ? results_.data() : reinterpret_cast<float*>(output.place);
    model_.Predict(reinterpret_cast<const float*>(rows), count, results);
    output.shape = {input.shape[0], static_cast<int64_t>(model_.width())};
    output.data = reinterpret_cast<const char*>(results);
  }
  executor_.batch().MarkComputeEnd();
  return Error();
}

}  // namespace nereid_backend
