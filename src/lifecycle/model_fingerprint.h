// ModelFingerprint: tells whether a model is still the one that it was. Stateless; blocks on I/O.
#ifndef NEREID_LIFECYCLE_MODEL_FINGERPRINT_H_
#define NEREID_LIFECYCLE_MODEL_FINGERPRINT_H_

#include <string>

#include "config/compiled_model.h"
#include "filesystem/file_system.h"

namespace nereid {

// A text over the configuration and the names, sizes and times of the files of the version. Two
// that differ: the model may answer otherwise. Files are not read: they may be huge. What cannot be
// listed counts as not there.
std::string ModelFingerprint(const FileSystem& file_system, const std::string& model_dir,
                             const CompiledModel& model);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_FINGERPRINT_H_
