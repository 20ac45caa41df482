// ModelFingerprint: tells whether a model has changed. Stateless; blocks on I/O.
#ifndef NEREID_LIFECYCLE_MODEL_MODEL_FINGERPRINT_H_
#define NEREID_LIFECYCLE_MODEL_MODEL_FINGERPRINT_H_

#include <string>

#include "config/compiled_model.h"
#include "filesystem/file_system.h"

namespace nereid {

// A text made from the configuration and from the names, sizes and times of the version's files. If
// two fingerprints differ, the model may give other answers. Files are not read, because they may
// be huge. Files that cannot be listed count as missing.
std::string ModelFingerprint(const FileSystem& file_system, const std::string& model_dir,
                             const CompiledModel& model);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_MODEL_FINGERPRINT_H_
