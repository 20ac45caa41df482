// SPDX-License-Identifier: Apache-2.0
// Single records as JSON objects. Pure functions.
#ifndef NEREID_SERVER_RECORDED_JSON_H_
#define NEREID_SERVER_RECORDED_JSON_H_

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "infer/serving_model.h"
#include "observe/record/flight_record.h"
#include "server/recordings.h"

namespace nereid {

// The names of the instances that the records of the model speak of, by shard - 1, gone ones
// included.
std::vector<FlightRecorder::InstanceOfShard> RecordedInstances(const ServingModel& model);
// The name of instance `shard` of the model; empty for shard 0, which is none.
std::string InstanceName(const ServingModel& model, size_t shard);
// What a reader sees of an id that was cut: its beginning and three dots.
std::string ShownId(const FlightRecord& flight);
// The id of its sequence, in the same way; empty if the request is of none.
std::string ShownSequence(const FlightRecord& flight);

// The members "now_ns" and "now_unix_ms".
void WriteClock(RecordClock clock, JsonWriter* w);
// The members of a request's object, without its braces.
void WriteFlightMembers(const ServingModel& model, const FlightRecord& flight, JsonWriter* w);
// The object of an execution. `members`: the requests in it, as far as they are remembered.
void WriteBatch(const ServingModel& model, const BatchRecord& batch,
                const std::vector<FlightRecord>& members, JsonWriter* w);

}  // namespace nereid

#endif  // NEREID_SERVER_RECORDED_JSON_H_
