// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_model.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backend_host/custom_batching.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "infer/serving_model.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kStrategyParameter[] = "TRITON_BATCH_STRATEGY_PATH";

TRITONBACKEND_Model* Handle(BackendModel* model) {
  return reinterpret_cast<TRITONBACKEND_Model*>(model);
}

struct StrategyLibrary {
  std::string path;  // empty: there is none
  bool model_owned = false;
};

// Whether the folder `outer` holds `path`. Both are absolute and without dots.
bool Holds(const fs::path& outer, const fs::path& path) {
  return std::mismatch(outer.begin(), outer.end(), path.begin(), path.end()).first == outer.end();
}

// The configured library. It lies in the model's directory; a relative path begins there or, as in
// Triton, in the working directory.
absl::StatusOr<StrategyLibrary> FindConfigured(const fs::path& model_dir,
                                               const std::string& configured) {
  std::error_code ignored;
  std::string missing;
  for (const fs::path& from : {model_dir, fs::current_path(ignored)}) {
    const std::string path = (from / configured).lexically_normal().string();
    if (!Holds(model_dir, path)) continue;
    if (fs::exists(path, ignored)) return StrategyLibrary{path, true};
    if (missing.empty()) missing = path;
  }
  if (missing.empty()) {
    return absl::InvalidArgumentError("Batching library path escapes model repository.");
  }
  return absl::NotFoundError(absl::StrCat("Batching library path not found: ", missing));
}

// The library that the model configures or carries, or that its backend carries.
absl::StatusOr<StrategyLibrary> FindStrategyLibrary(const BackendModel& model,
                                                    const CompiledModel& compiled) {
  std::error_code ignored;
  const fs::path model_dir =
      fs::absolute(model.options().repository_dir, ignored).lexically_normal();
  if (const auto configured = compiled.parameters.find(kStrategyParameter);
      configured != compiled.parameters.end()) {
    return FindConfigured(model_dir, configured->second);
  }
  const fs::path backend_dir = model.backend()->artifact_dir();
  for (const fs::path& folder :
       {model_dir / absl::StrCat(model.options().version), model_dir, backend_dir}) {
    const fs::path path = folder / "batchstrategy.so";
    if (fs::exists(path, ignored)) return StrategyLibrary{path.string(), Holds(model_dir, path)};
  }
  return StrategyLibrary();
}

}  // namespace

BackendModel::BackendModel(std::shared_ptr<LoadedBackend> backend, ParsedConfig config,
                           BackendModelOptions options)
    : backend_(std::move(backend)), config_(std::move(config)), options_(std::move(options)) {}

void BackendModel::FinalizeOnce() {
  const auto finalize = backend_->entry_points().model_finalize;
  if (!std::exchange(initialized_, false) || finalize == nullptr) return;
  const absl::Status status = CallBackend(backend_->name(), name(), "TRITONBACKEND_ModelFinalize",
                                          [&] { return finalize(Handle(this)); });
  if (!status.ok()) LOG_ERROR << "failed finalizing model '" << name() << "': " << status.message();
}

absl::Status BackendModel::Initialize() {
  if (const auto initialize = backend_->entry_points().model_initialize; initialize != nullptr) {
    initializing_ = true;
    const absl::Status status =
        CallBackend(backend_->name(), name(), "TRITONBACKEND_ModelInitialize",
                    [&] { return initialize(Handle(this)); });
    initializing_ = false;
    RETURN_IF_ERROR(status);
  }
  initialized_ = true;
  return absl::OkStatus();
}

absl::Status BackendModel::SetConfig(uint32_t config_version, const std::string& json) {
  if (!initializing_) {
    return absl::UnavailableError(
        absl::StrCat("model '", name(),
                     "': its configuration can only be set inside TRITONBACKEND_ModelInitialize"));
  }
  return config_.MergeBackendUpdate(config_version, json);
}

absl::Status BackendModel::SetExecutesBriefly() {
  if (!initializing_) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", name(),
                     "': NEREID_ModelExecutesBriefly can only be called inside "
                     "TRITONBACKEND_ModelInitialize"));
  }
  executes_briefly_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BatchStrategy>> BackendModel::MakeBatchStrategy(
    const CompiledModel& compiled) {
  ASSIGN_OR_RETURN(const StrategyLibrary found, FindStrategyLibrary(*this, compiled));
  const PluginLibrary* library = &backend_->library();
  std::string path = library->path();
  if (!found.path.empty()) {
    path = found.path;
    using Open = PluginLibrary::Open;
    ASSIGN_OR_RETURN(batching_library_,
                     PluginLibrary::Load("batching library", path, path,
                                         found.model_owned ? Open::kPrivateCopy : Open::kInPlace));
    library = batching_library_.get();
  }
  ASSIGN_OR_RETURN(const BatchingEntryPoints functions,
                   FindBatchingEntryPoints(*library, path, name()));
  if (functions.batch_include == nullptr) return std::unique_ptr<BatchStrategy>();
  return CustomBatching::Make(functions, backend_->name(), name(), Handle(this));
}

void BackendModel::ReportMemory(std::vector<TRITONSERVER_BufferAttributes> usage) {
  MutexLock lock(&mu_);
  memory_ = std::move(usage);
}

std::vector<TRITONSERVER_BufferAttributes> BackendModel::memory() const {
  MutexLock lock(&mu_);
  return memory_;
}

void BackendModel::TellAvailability() {
  if (serving_model_ != nullptr) serving_model_->OnAvailability();
}

}  // namespace nereid
