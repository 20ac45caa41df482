// SPDX-License-Identifier: Apache-2.0
// ManagedModel: a version of a model as the ModelManager handles it: a backend's model or an
// ensemble. Thread-safe.
#ifndef NEREID_LIFECYCLE_MODEL_MANAGED_MODEL_H_
#define NEREID_LIFECYCLE_MODEL_MANAGED_MODEL_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "c_objects/buffer_attributes.h"
#include "infer/serving_model.h"
#include "lifecycle/model/prepared_model.h"
#include "lifecycle/model/reaper.h"

namespace nereid {

class ManagedModel : public ServingModel {
 public:
  // Refuses new requests. Requests in flight continue.
  virtual void CloseAdmission() = 0;
  // Everything that Close needs, made beforehand, so that neither Close nor the thread that ends
  // the last request can fail. REQUIRES: the model is held by a shared_ptr.
  using PreparedClose = std::function<void()>;
  PreparedClose PrepareClose(Reaper* reaper, std::function<void()> on_done);
  // Calls CloseAdmission. Once nothing is in flight, `reaper` tears the model down, releases the
  // source that it was loaded from, and calls `on_done`. After that the model owns nothing that
  // has to be ended: remaining references only hold memory. REQUIRES: called once.
  void Close(PreparedClose prepared) noexcept;
  // The source that the model was loaded from, kept until the model is closed. REQUIRES: called at
  // most once, before others see the model.
  void set_source(std::shared_ptr<ModelSource> source);

  // The number of requests, or of sequences, that keep the model from being torn down.
  virtual int64_t InFlight() { return lifetime().inside(); }

  // Checks that the model fits its members as they serve now. INVALID_ARGUMENT.
  virtual absl::Status CheckMembers() { return absl::OkStatus(); }
  // The configuration as it is at this moment.
  virtual std::string ConfigJson() const { return config().json; }

  // What the instances have to do; all zero for a model without instances of its own.
  struct Work {
    size_t instances = 0;  // that take requests
    uint64_t busy_ns = 0;  // so far, all together, executions under way included
  };
  virtual Work work(TimePoint now) const { return {}; }
  // 0 for models that no backend has to load.
  virtual double load_seconds() const { return 0; }
  void DescribeMetrics(MetricSink* sink) const override;
  // The memory that backend and instances reported; empty once the model is closed and idle.
  virtual std::vector<TRITONSERVER_BufferAttributes> memory() { return {}; }

 protected:
  using ServingModel::ServingModel;
  // Blocks until no part of the model runs any more.
  virtual void TearDown() = 0;

 private:
  std::shared_ptr<ModelSource> source_;  // null: the repository; moved out at the end
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_MANAGED_MODEL_H_
