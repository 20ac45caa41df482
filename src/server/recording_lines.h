// SPDX-License-Identifier: Apache-2.0
// The lines of a recording (docs/operate/recording.md): one JSON object each, with its line break.
// Pure functions. Times are nanoseconds of the server's steady clock.
#ifndef NEREID_SERVER_RECORDING_LINES_H_
#define NEREID_SERVER_RECORDING_LINES_H_

#include <cstdint>
#include <string>

#include "infer/input_recorder.h"
#include "infer/serving_model.h"
#include "observe/record/flight_record.h"

namespace nereid {

// The first line of every recording.
std::string RecordingHeader(uint64_t now_ns, uint64_t wall_ms);
// A loaded version of a model; the other lines name it by `number`.
std::string ModelLine(const ServingModel& model, uint64_t number);
std::string RequestLine(const FlightRecord& flight, uint64_t model);
// The inputs of a request.
std::string InputsLine(const KeptInputs& inputs, uint64_t model);
std::string BatchLine(const BatchRecord& batch, uint64_t model);

}  // namespace nereid

#endif  // NEREID_SERVER_RECORDING_LINES_H_
