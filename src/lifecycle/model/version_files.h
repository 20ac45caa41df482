// SPDX-License-Identifier: Apache-2.0
// What a version of a model takes from its folder besides the model itself: the class labels of its
// outputs, and a fingerprint that tells whether it has changed. Stateless; blocks on I/O.
#ifndef NEREID_LIFECYCLE_MODEL_VERSION_FILES_H_
#define NEREID_LIFECYCLE_MODEL_VERSION_FILES_H_

#include <absl/status/statusor.h>

#include <string>

#include "config/compiled_model.h"
#include "filesystem/file_system.h"
#include "infer/serving_model.h"

namespace nereid {

// Reads the label files of the outputs. Each line holds one label; the line's index is the class.
// INVALID_ARGUMENT for a path outside the model's directory.
absl::StatusOr<OutputLabels> ReadLabels(const FileSystem& fs, const CompiledModel& model,
                                        const std::string& model_dir);

// A text made from the configuration and from the names, sizes and times of the version's files. If
// two fingerprints differ, the model may give other answers. Files are not read, because they may
// be huge. Files that cannot be listed count as missing.
std::string ModelFingerprint(const FileSystem& file_system, const std::string& model_dir,
                             const CompiledModel& model);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_VERSION_FILES_H_
