#include "backend_host/backend_model.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <filesystem>
#include <utility>

#include "backend_host/call.h"
#include "backend_host/custom_batching.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr char kStrategyParameter[] = "TRITON_BATCH_STRATEGY_PATH";

TRITONBACKEND_Model* Handle(BackendModel* model) {
  return reinterpret_cast<TRITONBACKEND_Model*>(model);
}

// Path of the library that the model configures or carries; empty if there is none.
absl::StatusOr<std::string> FindStrategyLibrary(const BackendModel& model,
                                                const CompiledModel& compiled) {
  namespace fs = std::filesystem;
  const fs::path model_dir = fs::path(model.options().repository_dir).lexically_normal();
  std::error_code ignored;
  if (const auto configured = compiled.parameters.find(kStrategyParameter);
      configured != compiled.parameters.end()) {
    // A relative path begins at the model's directory; an absolute one must be inside it.
    const fs::path path = (model_dir / configured->second).lexically_normal();
    const auto [end, unused] =
        std::mismatch(model_dir.begin(), model_dir.end(), path.begin(), path.end());
    if (end != model_dir.end()) {
      return absl::InvalidArgumentError("Batching library path escapes model repository.");
    }
    if (!fs::exists(path, ignored)) {
      return absl::NotFoundError(absl::StrCat("Batching library path not found: ", path.string()));
    }
    return path.string();
  }
  for (const fs::path& folder : {model_dir / absl::StrCat(model.options().version), model_dir,
                                 fs::path(model.backend()->artifact_dir())}) {
    const fs::path path = folder / "batchstrategy.so";
    if (fs::exists(path, ignored)) return path.string();
  }
  return std::string();
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
  ASSIGN_OR_RETURN(const std::string path, FindStrategyLibrary(*this, compiled));
  const SharedLibrary* library = &backend_->library();
  if (!path.empty()) {
    ASSIGN_OR_RETURN(batching_library_, SharedLibrary::Open(path));
    library = batching_library_.get();
  }
  ASSIGN_OR_RETURN(const BatchingEntryPoints functions, FindBatchingEntryPoints(*library, name()));
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

}  // namespace nereid
