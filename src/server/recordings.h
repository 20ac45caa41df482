// SPDX-License-Identifier: Apache-2.0
// What the flight recorders of models remember, as the JSON of /v2/nereid
// (docs/operate/recording.md). Pure functions, apart from the rings that they copy. All times are
// those of the server's steady clock, in nanoseconds.
#ifndef NEREID_SERVER_RECORDINGS_H_
#define NEREID_SERVER_RECORDINGS_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/export.h"
#include "infer/serving_model.h"

namespace nereid {

// Which records are shown.
struct RecordWindow {
  static constexpr size_t kUsual = 1000;
  static constexpr size_t kMost = 10'000;

  uint64_t since_ns = 0;  // those that ended later
  size_t limit = kUsual;  // requests, and as many executions, per model version: the newest
};

// What time it is, of both clocks, so that readers can tell the time of day of a record.
struct RecordClock {
  uint64_t now_ns = 0;
  uint64_t wall_ms = 0;  // since the Unix epoch
};

using RecordedModels = std::vector<std::shared_ptr<const ServingModel>>;

// The requests and executions of one version, newest first.
NEREID_API std::string TimelineJson(const ServingModel& model, const RecordWindow& window,
                                    RecordClock clock);
// All that is known of requests with this id, newest first, each with its execution and, for an
// ensemble, its steps.
NEREID_API std::string RequestsJson(const RecordedModels& models, absl::string_view id,
                                    RecordClock clock);
// The trace-event format that Perfetto and chrome://tracing read: a process for each version, a
// thread for each instance and for each sequence slot that was used, and the phases of each
// request.
NEREID_API std::string TraceEventsJson(const RecordedModels& models, const RecordWindow& window);

}  // namespace nereid

#endif  // NEREID_SERVER_RECORDINGS_H_
