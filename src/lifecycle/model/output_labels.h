// The class labels of a model's outputs, from its label files. Stateless; blocks on I/O.
#ifndef NEREID_LIFECYCLE_MODEL_OUTPUT_LABELS_H_
#define NEREID_LIFECYCLE_MODEL_OUTPUT_LABELS_H_

#include <absl/status/statusor.h>

#include <string>

#include "config/compiled_model.h"
#include "filesystem/file_system.h"
#include "infer/serving_model.h"

namespace nereid {

// Each line holds one label; the line's index is the class. INVALID_ARGUMENT for a path outside the
// model's directory.
absl::StatusOr<OutputLabels> ReadLabels(const FileSystem& fs, const CompiledModel& model,
                                        const std::string& model_dir);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_OUTPUT_LABELS_H_
