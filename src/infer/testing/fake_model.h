// SPDX-License-Identifier: Apache-2.0
// FakeModel: a ServingModel without backend and scheduler, for tests of the modules around them.
// ModelBuilder: writes the CompiledModel of such a model. FakeModel is thread-safe once its script
// is set; ModelBuilder is thread-compatible.
#ifndef NEREID_INFER_TESTING_FAKE_MODEL_H_
#define NEREID_INFER_TESTING_FAKE_MODEL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/compiled_model.h"
#include "infer/infer_request.h"
#include "infer/serving_model.h"

namespace nereid {

// Fills in what follows from the tensors (counts, byte sizes, whether shapes must be equal), as
// compiling a configuration does.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name = "model");

  ModelBuilder& MaxBatch(int32_t size);
  ModelBuilder& Input(InputSpec spec);
  ModelBuilder& Input(std::string name, DataType type, Shape dims);
  ModelBuilder& Output(OutputSpec spec);
  ModelBuilder& Output(std::string name, DataType type, Shape dims);
  // Start shape and bytes follow from the dimensions. REQUIRES: MaxBatch was called before.
  ModelBuilder& State(StateSpec spec);
  // Dynamic batching; no preferred sizes mean the largest batch, as in a configuration.
  ModelBuilder& Batching(std::vector<int32_t> preferred = {}, Duration max_delay = Duration{0});
  // `levels` priority levels, the last of which is the default.
  ModelBuilder& Priorities(uint64_t levels);
  // Policy of one level or, if `level` is 0, of all levels without their own.
  ModelBuilder& Policy(const QueuePolicy& policy, uint64_t level = 0);
  ModelBuilder& Instances(int count);

  CompiledModel Build() const;

 private:
  CompiledModel model_;
};

class FakeModel final : public ServingModel {
 public:
  // The backend takes inputs in pieces. REQUIRES: no request has come yet.
  void MayReadPieces() { set_reads_pieces(true); }
  // Tensors are on these GPUs, which outlive the model. REQUIRES: as before.
  void Use(const Devices* devices) { set_devices(devices); }

  // `clock` outlives the model. `recorded`: events of the recorder.
  explicit FakeModel(CompiledModel config, Clock* clock = Clock::Real(), OutputLabels labels = {},
                     const MetricsConfig& metrics = {}, size_t recorded = 0)
      : ServingModel(std::make_shared<const CompiledModel>(std::move(config)), std::move(labels),
                     clock, metrics, Duration(0), recorded) {}

  static std::shared_ptr<FakeModel> Make(const ModelBuilder& builder, Clock* clock = Clock::Real(),
                                         size_t recorded = 0) {
    return std::make_shared<FakeModel>(builder.Build(), clock, OutputLabels(), MetricsConfig(),
                                       recorded);
  }

  // What a model does when it begins to unload.
  void BeginUnload() {
    admission_open = false;
    StopWaitingForClients();
  }

  // ---- The script. Set before other threads see the model.
  std::function<absl::Status(RequestPtr*)> on_enqueue;  // none: UNAVAILABLE
  std::function<void(InferRequest*)> on_cancel;
  absl::Status ready;
  std::optional<CorrelationId> sequence;  // the only one that HasSequence reports
  std::atomic<bool> admission_open{true};

  int cancels() const { return cancels_.load(); }

  absl::Status Enqueue(RequestPtr* request) override;
  bool AdmissionOpen() const override { return admission_open.load(); }
  absl::Status CheckReady() override { return ready; }
  void OnCancel(InferRequest* request) override;
  bool HasSequence(const CorrelationId& id) const override { return sequence == id; }

 private:
  std::atomic<int> cancels_{0};
};

}  // namespace nereid

#endif  // NEREID_INFER_TESTING_FAKE_MODEL_H_
