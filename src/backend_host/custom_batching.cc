// SPDX-License-Identifier: Apache-2.0
#include "backend_host/custom_batching.h"

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

template <typename Call>
absl::Status CustomBatching::CallLogged(const char* what, const Call& call) {
  absl::Status status = CallBackend(backend_, model_, what, call);
  if (!status.ok()) {
    LOG_ERROR_SELDOM << what << " of model '" << model_ << "': " << status.message();
  }
  return status;
}

absl::StatusOr<std::unique_ptr<BatchStrategy>> CustomBatching::Make(
    const BatchingEntryPoints& functions, const std::string& backend, const std::string& model,
    TRITONBACKEND_Model* handle) {
  std::unique_ptr<CustomBatching> batching(new CustomBatching(functions, backend, model));
  RETURN_IF_ERROR(CallBackend(backend, model, "TRITONBACKEND_ModelBatcherInitialize", [&] {
    return functions.batcher_initialize(&batching->batcher_, handle);
  }));
  batching->initialized_ = true;
  return std::unique_ptr<BatchStrategy>(std::move(batching));
}

CustomBatching::~CustomBatching() {
  if (!initialized_) return;
  CallLogged("TRITONBACKEND_ModelBatcherFinalize", [&] {
    return functions_.batcher_finalize(batcher_);
  }).IgnoreError();
}

void CustomBatching::Begin() {
  CallLogged("TRITONBACKEND_ModelBatchInitialize", [&] {
    return functions_.batch_initialize(batcher_, &batch_state_);
  }).IgnoreError();
}

bool CustomBatching::Include(InferRequest* request) {
  bool include = false;
  const absl::Status status = CallLogged("TRITONBACKEND_ModelBatchIncludeRequest", [&] {
    return functions_.batch_include(reinterpret_cast<TRITONBACKEND_Request*>(request), batch_state_,
                                    &include);
  });
  return status.ok() && include;
}

void CustomBatching::End() {
  CallLogged("TRITONBACKEND_ModelBatchFinalize", [&] {
    return functions_.batch_finalize(batch_state_);
  }).IgnoreError();
  batch_state_ = nullptr;
}

}  // namespace nereid
