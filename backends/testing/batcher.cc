// SPDX-License-Identifier: Apache-2.0
// libtriton_testing_batcher.so: a custom batching strategy. A request joins a batch while the sum
// of the first INT32 elements stays within the model's parameter `batch_sum_limit`.
#include "backends/sdk/boundary.h"
#include "backends/sdk/model_config.h"
#include "backends/testing/first_int32.h"

namespace {

// The content of a TRITONBACKEND_Batcher. Immutable.
struct SumLimit {
  int64_t limit;
};

// A batch being formed. Owned by the thread that forms it.
struct PendingBatch {
  int64_t limit;
  int64_t sum = 0;
  bool empty = true;
};

}  // namespace

using nereid_backend::Error;
using nereid_backend::Guard;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher** batcher,
                                                         TRITONBACKEND_Model* model) {
  return Guard("ModelBatcherInitialize", [&]() -> Error {
    NB_ASSIGN_OR_RETURN(const nereid_backend::ModelConfig config,
                        nereid_backend::ReadModelConfig(model));
    NB_ASSIGN_OR_RETURN(
        const int64_t limit,
        nereid_backend::ParseInt("batch_sum_limit", config.Parameter("batch_sum_limit", "10"), 0,
                                 INT32_MAX));
    *batcher = reinterpret_cast<TRITONBACKEND_Batcher*>(new SumLimit{limit});
    return Error();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher* batcher) {
  delete reinterpret_cast<SumLimit*>(batcher);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher* batcher,
                                                       void** userp) {
  return Guard("ModelBatchInitialize", [&]() -> Error {
    *userp = new PendingBatch{reinterpret_cast<const SumLimit*>(batcher)->limit};
    return Error();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request* request,
                                                           void* userp, bool* should_include) {
  return Guard("ModelBatchIncludeRequest", [&]() -> Error {
    auto* batch = static_cast<PendingBatch*>(userp);
    NB_ASSIGN_OR_RETURN(const int32_t value, nereid_backend::FirstInt32(request));
    // The first request always joins, because one above the limit has to run alone.
    *should_include = batch->empty || batch->sum + value <= batch->limit;
    if (!*should_include) return Error();
    batch->sum += value;
    batch->empty = false;
    return Error();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp) {
  delete static_cast<PendingBatch*>(userp);
  return nullptr;
}

}  // extern "C"
