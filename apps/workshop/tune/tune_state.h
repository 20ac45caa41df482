// SPDX-License-Identifier: Apache-2.0
// What `nereid tune` has measured so far, and its file, with which the next run goes on. A plain
// value; the functions block on file I/O.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TUNE_STATE_H_
#define NEREID_APPS_WORKSHOP_TUNE_TUNE_STATE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/choice.h"
#include "tune/service_times.h"

namespace nereid {

// What is known of a model.
struct LearnedModel {
  std::string config_json;  // completed by its backend
  std::map<Engine, ServiceTimes> times;
};

struct TuneState {
  struct Measured {
    Configuration configuration;
    Measurement measurement;
  };

  std::string key;                   // model and options for which the values hold
  std::vector<LearnedModel> models;  // the one that is tuned, or the members of an ensemble
  // The ensemble; its times are sums over the steps, with Engine{}.
  std::optional<LearnedModel> ensemble;
  std::vector<Measured> measured;

  // Null if the configuration has not been measured.
  const Measurement* Find(const Configuration& configuration) const;
  // In place of what was measured before.
  void Put(const Configuration& configuration, const Measurement& measurement);
};

std::string TuneStateJson(const TuneState& state);
// INVALID_ARGUMENT if `json` is no state.
absl::StatusOr<TuneState> ParseTuneState(const std::string& json);

// Of any model and options. INVALID_ARGUMENT if the file cannot be read, or is another one.
absl::StatusOr<TuneState> ReadTuneState(const std::string& file);
// The state in `file`; an empty one with this key if `file` is empty or there is none yet.
// INVALID_ARGUMENT if it is another file, or of another model or other options.
absl::StatusOr<TuneState> LoadTuneState(const std::string& file, const std::string& key);
// Replaces the file in one step; does nothing if `file` is empty. UNAVAILABLE.
absl::Status SaveTuneState(const std::string& file, const TuneState& state);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TUNE_STATE_H_
