// SPDX-License-Identifier: Apache-2.0
// The config.pbtxt that `nereid tune` reads, changes and writes. Functions that block on file I/O,
// unless they say otherwise.
#ifndef NEREID_APPS_WORKSHOP_TUNE_CONFIG_FILE_H_
#define NEREID_APPS_WORKSHOP_TUNE_CONFIG_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "tune/candidate.h"

namespace nereid {

// The configuration of a model that is tuned.
struct ConfigText {
  std::string model;
  std::string folder;  // of the model
  std::string text;    // empty: there is no file

  std::string path() const { return folder + "/config.pbtxt"; }
};

// The text of the file in a model's folder; empty if there is none. NOT_FOUND if there is no such
// folder, PERMISSION_DENIED if it cannot be read, or `to_write` is set and it cannot be replaced.
absl::StatusOr<std::string> ReadConfigFile(const std::string& folder, bool to_write);

// The texts with which the models run as `configuration` says; `models` are those of `today`. Pure.
// Errors of EditConfigText.
absl::StatusOr<std::vector<ConfigText>> WithConfiguration(const std::vector<ConfigText>& today,
                                                          const std::vector<CompiledModel>& models,
                                                          const Configuration& configuration);

// Replaces the file in one step. What was there before is kept as config.pbtxt.before-tune, in
// place of an earlier one; after the first file of a model there is none. UNAVAILABLE.
absl::Status ReplaceConfigFile(const std::string& folder, const std::string& text);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_CONFIG_FILE_H_
