// SPDX-License-Identifier: Apache-2.0
// TrafficRecorder: writes what the flight recorders of all models remember to a file, from a thread
// of its own. Requests do nothing for it: the rings of the recorders are its queue, whose oldest
// records are replaced, and counted as lost, when the thread does not keep up. Thread-safe.
#ifndef NEREID_SERVER_TRAFFIC_RECORDER_H_
#define NEREID_SERVER_TRAFFIC_RECORDER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/ticker.h"
#include "infer/input_recorder.h"
#include "infer/serving_model.h"
#include "observe/record/flight_recorder.h"

namespace nereid {

struct TrafficRecorderOptions {
  std::string file;
  uint64_t max_bytes = 0;  // the file grows no further
  double sample = 1;       // the share of the requests that is written
};

class TrafficRecorder {
 public:
  using Models = std::function<std::vector<std::shared_ptr<const ServingModel>>()>;

  // Replaces the file, which only its owner may read. `models` returns all that serve; `inputs` has
  // the inputs of requests, or is null. All of them and `clock` outlive the recorder.
  // INVALID_ARGUMENT: the file cannot be written.
  static absl::StatusOr<std::unique_ptr<TrafficRecorder>> Open(
      const TrafficRecorderOptions& options, Clock* clock, InputRecorder* inputs, Models models);
  // Writes what is left.
  ~TrafficRecorder();
  TrafficRecorder(const TrafficRecorder&) = delete;
  TrafficRecorder& operator=(const TrafficRecorder&) = delete;

  // Writes what is new of all models, and follows those that serve to their end. The thread of the
  // recorder does the same every 25 ms.
  void Poll() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Followed {
    uint64_t number;
    RecordCursor cursor;
    bool serves = true;
  };

  TrafficRecorder(const TrafficRecorderOptions& options, std::FILE* file, Clock* clock,
                  InputRecorder* inputs, Models models);

  void WriteNews(const std::vector<KeptInputs>& inputs,
                 const std::vector<std::shared_ptr<const ServingModel>>& serving)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Follow(const ServingModel& model, Followed* followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Writes inputs of the models that are followed.
  void WriteInputs(const std::vector<KeptInputs>& all) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Write(const std::string& line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Writes no more, because of `why`.
  void Stop(const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Report(const RecordCursor& cursor, const ServingModel& model)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const TrafficRecorderOptions options_;
  InputRecorder* const inputs_;
  const Models models_;
  Mutex mu_;
  std::FILE* const file_ ABSL_PT_GUARDED_BY(mu_);
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool full_ ABSL_GUARDED_BY(mu_) = false;               // at its limit, or an error of the disk
  std::vector<std::string> notes_ ABSL_GUARDED_BY(mu_);  // to be logged without the lock
  uint64_t last_number_ ABSL_GUARDED_BY(mu_) = 0;
  // Those that serve, and those that others still use: their requests are under way.
  std::map<std::shared_ptr<const ServingModel>, Followed> followed_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<Ticker> ticker_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_SERVER_TRAFFIC_RECORDER_H_
