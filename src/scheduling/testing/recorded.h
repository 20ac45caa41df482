// SPDX-License-Identifier: Apache-2.0
// What tests look at in the records of a model. Pure functions.
#ifndef NEREID_SCHEDULING_TESTING_RECORDED_H_
#define NEREID_SCHEDULING_TESTING_RECORDED_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "infer/serving_model.h"
#include "observe/record/phases.h"
#include "scheduling/batch.h"

namespace nereid {

// "full:3" for a batch of three requests that left because it was full; oldest first.
inline std::vector<std::string> RecordedBatches(const ServingModel& model) {
  std::vector<std::string> batches;
  for (const BatchRecord& batch : model.recorder().Batches(0, 1000)) {
    batches.push_back(std::string(NameOf(static_cast<BatchReason>(batch.reason))) + ":" +
                      std::to_string(batch.requests));
  }
  std::reverse(batches.begin(), batches.end());
  return batches;
}

// The only record of the request `id`; an empty one if there is none, or more than one.
inline FlightRecord RecordedFlight(const ServingModel& model, const std::string& id) {
  FlightRecord found;
  size_t count = 0;
  for (const FlightRecord& flight : model.recorder().Flights(0, 1000)) {
    if (!flight.id.Matches(id)) continue;
    found = flight;
    ++count;
  }
  return count == 1 ? found : FlightRecord();
}

// How long a phase of the request `id` took, in microseconds.
inline int64_t RecordedMicros(const ServingModel& model, const std::string& id, Phase phase) {
  return static_cast<int64_t>(PhasesOf(RecordedFlight(model, id))[phase]) / 1000;
}

}  // namespace nereid

#endif  // NEREID_SCHEDULING_TESTING_RECORDED_H_
