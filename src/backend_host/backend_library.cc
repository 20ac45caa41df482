// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_library.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

// Functions whose presence sets BackendAttributes::executes_briefly, reads_pieces and
// computes_on_cpus. Unknown to other servers, which do not look for them.
constexpr char kExecutesBrieflyMark[] = "NEREID_BackendExecutesBriefly";
constexpr char kReadsPiecesMark[] = "NEREID_BackendReadsPieces";

}  // namespace

absl::StatusOr<BatchingEntryPoints> FindBatchingEntryPoints(const PluginLibrary& library,
                                                            const std::string& path,
                                                            const std::string& model) {
  BatchingEntryPoints found;
  int count = 0;
  count += library.Get("TRITONBACKEND_ModelBatcherInitialize", &found.batcher_initialize);
  count += library.Get("TRITONBACKEND_ModelBatcherFinalize", &found.batcher_finalize);
  count += library.Get("TRITONBACKEND_ModelBatchInitialize", &found.batch_initialize);
  count += library.Get("TRITONBACKEND_ModelBatchIncludeRequest", &found.batch_include);
  count += library.Get("TRITONBACKEND_ModelBatchFinalize", &found.batch_finalize);
  if (count != 0 && count != 5) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " does not define all required custom batching functions for model ", model));
  }
  return found;
}

LoadedBackend::LoadedBackend(BackendLocation location, std::string config_json,
                             std::unique_ptr<PluginLibrary> library, const Devices* devices)
    : location_(std::move(location)),
      code_(location_.code()),
      config_{std::move(config_json)},
      library_(std::move(library)),
      devices_(devices) {}

absl::StatusOr<std::shared_ptr<LoadedBackend>> LoadedBackend::Load(const std::string& name,
                                                                   const BackendLocation& location,
                                                                   const std::string& config_json,
                                                                   Watch watch,
                                                                   const Devices* devices) {
  using Open = PluginLibrary::Open;
  ASSIGN_OR_RETURN(std::unique_ptr<PluginLibrary> library,
                   PluginLibrary::Load("backend", name, location.library,
                                       location.model_owned ? Open::kPrivateCopy : Open::kInPlace));
  std::shared_ptr<LoadedBackend> backend(
      new LoadedBackend(location, config_json, std::move(library), devices));
  RETURN_IF_ERROR(backend->FindEntryPoints());
  if (watch != nullptr) watch(&backend->entry_points_);
  RETURN_IF_ERROR(backend->Initialize());
  LOG_VERBOSE(1) << "loaded backend '" << name << "' from " << backend->code();
  return backend;
}

LoadedBackend::~LoadedBackend() {
  if (!initialized_ || entry_points_.finalize == nullptr) return;
  library_->Finalize("TRITONBACKEND_Finalize", [&] {
    return entry_points_.finalize(reinterpret_cast<TRITONBACKEND_Backend*>(this));
  });
}

absl::Status LoadedBackend::FindEntryPoints() {
  const PluginLibrary& library = *library_;
  library.Get("TRITONBACKEND_Initialize", &entry_points_.initialize);
  library.Get("TRITONBACKEND_Finalize", &entry_points_.finalize);
  library.Get("TRITONBACKEND_GetBackendAttribute", &entry_points_.get_backend_attribute);
  library.Get("TRITONBACKEND_ModelInitialize", &entry_points_.model_initialize);
  library.Get("TRITONBACKEND_ModelFinalize", &entry_points_.model_finalize);
  library.Get("TRITONBACKEND_ModelInstanceInitialize", &entry_points_.instance_initialize);
  library.Get("TRITONBACKEND_ModelInstanceFinalize", &entry_points_.instance_finalize);
  library.Get("TRITONBACKEND_ModelInstanceReady", &entry_points_.instance_ready);
  attributes_.executes_briefly = library.Exports(kExecutesBrieflyMark);
  attributes_.reads_pieces = library.Exports(kReadsPiecesMark);
  attributes_.computes_on_cpus = library.Exports(kComputesOnCpusMark);
  return library.Require("TRITONBACKEND_ModelInstanceExecute", &entry_points_.instance_execute);
}

absl::Status LoadedBackend::Initialize() {
  auto* const handle = reinterpret_cast<TRITONBACKEND_Backend*>(this);
  if (entry_points_.initialize != nullptr) {
    RETURN_IF_ERROR(library_->Run("TRITONBACKEND_Initialize",
                                  [&] { return entry_points_.initialize(handle); }));
  }
  initialized_ = true;
  if (entry_points_.get_backend_attribute != nullptr) {
    auto* const attributes = reinterpret_cast<TRITONBACKEND_BackendAttribute*>(&attributes_);
    RETURN_IF_ERROR(library_->Run("TRITONBACKEND_GetBackendAttribute", [&] {
      return entry_points_.get_backend_attribute(handle, attributes);
    }));
  }
  return absl::OkStatus();
}

}  // namespace nereid
