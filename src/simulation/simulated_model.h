// SPDX-License-Identifier: Apache-2.0
// SimulatedModel: a version of a model without a backend, behind the scheduler that serves the real
// one. Its requests have the shapes of real ones; their bytes are zero. Thread-compatible.
#ifndef NEREID_SIMULATION_SIMULATED_MODEL_H_
#define NEREID_SIMULATION_SIMULATED_MODEL_H_

#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "infer/infer_request.h"
#include "infer/serving_model.h"
#include "memory/output_allocator.h"
#include "observe/record/mapped_memory.h"
#include "scheduling/scheduler.h"
#include "simulation/workload.h"

namespace nereid {

// Makes the scheduler of a simulation; see MakeScheduler.
using SchedulerMaker =
    std::function<absl::StatusOr<std::unique_ptr<Scheduler>>(const CompiledModel& model)>;

class SimulatedModel final : public ServingModel {
 public:
  // `clock` outlives the model.
  SimulatedModel(CompiledModel config, Clock* clock)
      : ServingModel(std::make_shared<const CompiledModel>(std::move(config)), {}, clock) {}

  // REQUIRES: called once, before the first request.
  absl::Status UseScheduler(const SchedulerMaker& make);
  // What no instance has taken is answered. REQUIRES: no request is in an instance.
  void DropScheduler();
  Scheduler& scheduler() { return *scheduler_; }

  absl::Status Enqueue(RequestPtr* request) override { return scheduler_->Enqueue(request); }
  bool AdmissionOpen() const override { return true; }
  absl::Status CheckReady() override { return absl::OkStatus(); }
  void OnCancel(InferRequest* request) override { scheduler_->OnCancel(request); }

 private:
  std::unique_ptr<Scheduler> scheduler_;
};

// The shapes of a load's requests, and bytes for them, which are zero. Immutable.
class LoadShapes {
 public:
  // Bound of one input's bytes, which are only ever read as zeros.
  static constexpr int64_t kMostInputBytes = int64_t{1} << 33;

  // Reserves what the load needs. INVALID_ARGUMENT, naming the input, if it is too large.
  static absl::StatusOr<std::shared_ptr<const LoadShapes>> Make(
      const CompiledModel& config, const std::vector<SimulatedRequest>& load);

  // The shape of `input` in a request of the load.
  Shape ShapeOf(const InputSpec& input, const SimulatedRequest& request) const;
  // INVALID_ARGUMENT if that is too much.
  static absl::StatusOr<int64_t> BytesOf(const InputSpec& input, const Shape& shape);
  // As many as the largest input has.
  const void* zeros() const { return zeros_->get(); }

 private:
  explicit LoadShapes(bool batched) : batched_(batched) {}

  const bool batched_;                // tensors have a batch dimension
  std::map<uint32_t, int64_t> dims_;  // by key of shapes: the length of a variable dimension
  std::unique_ptr<MappedMemory> zeros_;
};

// Makes the requests of one load, and hears how they end. Outlives them. Thread-compatible.
class RequestMaker {
 public:
  // `ended` is called for each request that was issued, when its final response comes; `ok`: it is
  // no error.
  RequestMaker(std::shared_ptr<SimulatedModel> model, std::shared_ptr<const LoadShapes> shapes,
               std::function<void(uint32_t number, bool ok)> ended)
      : model_(std::move(model)), shapes_(std::move(shapes)), ended_(std::move(ended)) {}

  // Issues request `number`, which is one of the load. Errors are those of a client.
  absl::Status Issue(uint32_t number, const SimulatedRequest& request, uint64_t now_ns);
  // The number of a request that Issue has made.
  static uint32_t NumberOf(const InferRequest& request);

 private:
  struct Flight;

  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);

  const std::shared_ptr<SimulatedModel> model_;
  const std::shared_ptr<const LoadShapes> shapes_;
  const std::function<void(uint32_t, bool)> ended_;
  const HeapOutputAllocator allocator_{nullptr};
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_SIMULATED_MODEL_H_
