// SPDX-License-Identifier: Apache-2.0
// What tests of the recordings share: a model that only records, and a request's record.
#ifndef NEREID_SERVER_RECORDING_MODEL_TESTING_H_
#define NEREID_SERVER_RECORDING_MODEL_TESTING_H_

#include <memory>
#include <string>

#include "config/compiled_model.h"
#include "infer/serving_model.h"

namespace nereid {

// A model that only records.
class RecordingModel final : public ServingModel {
 public:
  RecordingModel(const std::string& name, int instances, size_t events = 16)
      : ServingModel(Config(name, instances), {}, Clock::Real(), {}, Duration(0), events) {}

  absl::Status Enqueue(RequestPtr*) override { return absl::UnavailableError("only a test"); }
  bool AdmissionOpen() const override { return true; }
  absl::Status CheckReady() override { return absl::OkStatus(); }
  void OnCancel(InferRequest*) override {}

 private:
  static std::shared_ptr<const CompiledModel> Config(const std::string& name, int instances) {
    auto config = std::make_shared<CompiledModel>();
    config->name = name;
    config->version = 3;
    config->instances.resize(static_cast<size_t>(instances));
    for (int i = 0; i < instances; ++i) {
      config->instances[static_cast<size_t>(i)].name = name + "_" + std::to_string(i);
    }
    return config;
  }
};

inline FlightRecord Flight(const std::string& id, uint64_t start, uint64_t batch) {
  FlightRecord flight;
  flight.id.Set(id);
  flight.request_start = start;
  flight.queue_start = start + 1;
  flight.pulled = start + 5;
  flight.exec_start = start + 5;
  flight.answered = start + 20;
  flight.sent = start + 22;
  flight.batch_size = 1;
  flight.batch = batch;
  flight.instance = batch == 0 ? 0 : 1;
  return flight;
}

}  // namespace nereid

#endif  // NEREID_SERVER_RECORDING_MODEL_TESTING_H_
