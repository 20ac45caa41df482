// SPDX-License-Identifier: Apache-2.0
// CustomBatching: a BatchStrategy made of the TRITONBACKEND_ModelBatch* functions of a backend or
// of a batching library. Used by one thread at a time. The library outlives it.
#ifndef NEREID_BACKEND_HOST_CUSTOM_BATCHING_H_
#define NEREID_BACKEND_HOST_CUSTOM_BATCHING_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "backend_host/backend_library.h"
#include "scheduling/scheduler.h"

namespace nereid {

class CustomBatching final : public BatchStrategy {
 public:
  // Calls the batcher's initialisation; its error fails the load.
  static absl::StatusOr<std::unique_ptr<BatchStrategy>> Make(const BatchingEntryPoints& functions,
                                                             const std::string& backend,
                                                             const std::string& model,
                                                             TRITONBACKEND_Model* handle);
  ~CustomBatching() override;

  // Errors of the functions are logged; a request whose check fails is left out of the batch.
  void Begin() override;
  bool Include(InferRequest* request) override;
  void End() override;

 private:
  CustomBatching(const BatchingEntryPoints& functions, std::string backend, std::string model)
      : functions_(functions), backend_(std::move(backend)), model_(std::move(model)) {}
  template <typename Call>
  absl::Status CallLogged(const char* what, const Call& call);

  const BatchingEntryPoints functions_;
  const std::string backend_;
  const std::string model_;
  bool initialized_ = false;
  TRITONBACKEND_Batcher* batcher_ = nullptr;  // null for a batcher that needs no state
  void* batch_state_ = nullptr;
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_CUSTOM_BATCHING_H_
