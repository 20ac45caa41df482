// ManagedModel: a version of a model as the ModelManager handles it, be it a backend's or an
// ensemble. Thread-safe.
#ifndef NEREID_LIFECYCLE_MANAGED_MODEL_H_
#define NEREID_LIFECYCLE_MANAGED_MODEL_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "c_objects/buffer_attributes.h"
#include "infer/serving_model.h"
#include "lifecycle/model_source.h"
#include "lifecycle/reaper.h"

namespace nereid {

class ManagedModel : public ServingModel {
 public:
  // Refuses new requests; those in flight go on.
  virtual void CloseAdmission() = 0;
  // All that Close takes, made beforehand: neither Close nor whoever brings the last request to its
  // end can fail any more. REQUIRES: the model is held by a shared_ptr.
  using PreparedClose = std::function<void()>;
  PreparedClose PrepareClose(Reaper* reaper, std::function<void()> on_done);
  // CloseAdmission, and once nothing is in flight `reaper` tears the model down, lets go of what it
  // was loaded from, and calls `on_done`. After that the model owns nothing that has an end: who
  // still refers to it keeps memory only. REQUIRES: called once.
  void Close(PreparedClose prepared) noexcept;
  // What it was loaded from, until it is closed. REQUIRES: called once at most, before others see
  // the model.
  void set_source(std::shared_ptr<ModelSource> source);

  // What keeps it from being torn down: its requests, or its sequences.
  virtual int64_t InFlight() { return lifetime().inside(); }

  // Whether it fits the models that it uses, as they serve now. INVALID_ARGUMENT.
  virtual absl::Status CheckMembers() { return absl::OkStatus(); }
  // The configuration as it is at this moment.
  virtual std::string ConfigJson() const { return config().json; }

  // 0 for models that no backend has to load.
  virtual double load_seconds() const { return 0; }
  void DescribeMetrics(MetricSink* sink) const override;
  // What backend and instances reported; empty once the model is closed and idle.
  virtual std::vector<TRITONSERVER_BufferAttributes> memory() { return {}; }

 protected:
  using ServingModel::ServingModel;
  // Blocks until nothing of the model runs any more.
  virtual void TearDown() = 0;

 private:
  std::shared_ptr<ModelSource> source_;  // null: the repository; moved out at the end
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MANAGED_MODEL_H_
