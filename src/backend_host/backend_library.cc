// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_library.h"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <utility>

#include "backend_host/call.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "filesystem/temp_directory.h"

namespace nereid {
namespace {

// Functions whose presence sets BackendAttributes::executes_briefly and reads_pieces. Unknown to
// other servers, which do not look for them.
constexpr char kExecutesBrieflyMark[] = "NEREID_BackendExecutesBriefly";
constexpr char kReadsPiecesMark[] = "NEREID_BackendReadsPieces";

}  // namespace

absl::StatusOr<std::unique_ptr<SharedLibrary>> OpenPrivateCopy(const std::string& path) {
  namespace fs = std::filesystem;
  ASSIGN_OR_RETURN(const std::unique_ptr<TempDirectory> folder,
                   TempDirectory::Make(TempDirectory::kBackendCopy));
  const fs::path copy = fs::path(folder->path()) / fs::path(path).filename();
  std::error_code error;
  fs::copy_file(path, copy, error);
  if (error) {
    return absl::InternalError(absl::StrCat("cannot copy library '", path, "': ", error.message()));
  }
  return SharedLibrary::Open(copy.string());
}

absl::StatusOr<BatchingEntryPoints> FindBatchingEntryPoints(const SharedLibrary& library,
                                                            const std::string& path,
                                                            const std::string& model) {
  BatchingEntryPoints found;
  int count = 0;
  const auto find = [&](auto* slot, const char* symbol) {
    *slot = library.Function<std::remove_pointer_t<decltype(slot)>>(symbol);
    if (*slot != nullptr) ++count;
  };
  find(&found.batcher_initialize, "TRITONBACKEND_ModelBatcherInitialize");
  find(&found.batcher_finalize, "TRITONBACKEND_ModelBatcherFinalize");
  find(&found.batch_initialize, "TRITONBACKEND_ModelBatchInitialize");
  find(&found.batch_include, "TRITONBACKEND_ModelBatchIncludeRequest");
  find(&found.batch_finalize, "TRITONBACKEND_ModelBatchFinalize");
  if (count != 0 && count != 5) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " does not define all required custom batching functions for model ", model));
  }
  return found;
}

LoadedBackend::LoadedBackend(std::string name, BackendLocation location, std::string config_json,
                             std::unique_ptr<SharedLibrary> library)
    : name_(std::move(name)),
      location_(std::move(location)),
      code_(location_.code()),
      config_{std::move(config_json)},
      library_(std::move(library)) {}

absl::StatusOr<std::shared_ptr<LoadedBackend>> LoadedBackend::Load(const std::string& name,
                                                                   const BackendLocation& location,
                                                                   const std::string& config_json,
                                                                   Watch watch) {
  absl::StatusOr<std::unique_ptr<SharedLibrary>> library =
      location.model_owned ? OpenPrivateCopy(location.library)
                           : SharedLibrary::Open(location.library);
  if (!library.ok()) {
    return absl::Status(library.status().code(),
                        absl::StrCat("backend '", name, "': ", library.status().message()));
  }
  std::shared_ptr<LoadedBackend> backend(
      new LoadedBackend(name, location, config_json, *std::move(library)));
  RETURN_IF_ERROR(backend->FindEntryPoints());
  if (watch != nullptr) watch(&backend->entry_points_);
  RETURN_IF_ERROR(backend->Initialize());
  LOG_VERBOSE(1) << "loaded backend '" << name << "' from " << backend->code();
  return backend;
}

LoadedBackend::~LoadedBackend() {
  if (!initialized_ || entry_points_.finalize == nullptr) return;
  const absl::Status status = CallBackend(name_, "", "TRITONBACKEND_Finalize", [&] {
    return entry_points_.finalize(reinterpret_cast<TRITONBACKEND_Backend*>(this));
  });
  if (!status.ok())
    LOG_ERROR << "failed finalizing backend '" << name_ << "': " << status.message();
}

absl::Status LoadedBackend::FindEntryPoints() {
  const auto find = [&](auto* slot, const char* symbol) {
    *slot = library_->Function<std::remove_pointer_t<decltype(slot)>>(symbol);
  };
  find(&entry_points_.initialize, "TRITONBACKEND_Initialize");
  find(&entry_points_.finalize, "TRITONBACKEND_Finalize");
  find(&entry_points_.get_backend_attribute, "TRITONBACKEND_GetBackendAttribute");
  find(&entry_points_.model_initialize, "TRITONBACKEND_ModelInitialize");
  find(&entry_points_.model_finalize, "TRITONBACKEND_ModelFinalize");
  find(&entry_points_.instance_initialize, "TRITONBACKEND_ModelInstanceInitialize");
  find(&entry_points_.instance_finalize, "TRITONBACKEND_ModelInstanceFinalize");
  find(&entry_points_.instance_execute, "TRITONBACKEND_ModelInstanceExecute");
  find(&entry_points_.instance_ready, "TRITONBACKEND_ModelInstanceReady");
  attributes_.executes_briefly = library_->Find(kExecutesBrieflyMark) != nullptr;
  attributes_.reads_pieces = library_->Find(kReadsPiecesMark) != nullptr;
  if (entry_points_.instance_execute == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("backend '", name_, "': library ", library_->path(),
                     " does not export TRITONBACKEND_ModelInstanceExecute; is it a backend?"));
  }
  return absl::OkStatus();
}

absl::Status LoadedBackend::Initialize() {
  auto* const handle = reinterpret_cast<TRITONBACKEND_Backend*>(this);
  if (entry_points_.initialize != nullptr) {
    RETURN_IF_ERROR(CallBackend(name_, "", "TRITONBACKEND_Initialize",
                                [&] { return entry_points_.initialize(handle); }));
  }
  initialized_ = true;
  if (entry_points_.get_backend_attribute != nullptr) {
    auto* const attributes = reinterpret_cast<TRITONBACKEND_BackendAttribute*>(&attributes_);
    RETURN_IF_ERROR(CallBackend(name_, "", "TRITONBACKEND_GetBackendAttribute", [&] {
      return entry_points_.get_backend_attribute(handle, attributes);
    }));
  }
  return absl::OkStatus();
}

}  // namespace nereid
