// SPDX-License-Identifier: Apache-2.0
// Unpacks an archive into a folder: tar (plain, gzip, bzip2, xz, zstd) and zip. Thread-safe;
// blocks.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_ARCHIVE_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_ARCHIVE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "backends/sdk/error.h"

namespace nereid_backend {

// `folder` exists and is empty, and its path has no symbolic links. Nothing is written outside of
// it: an absolute path, "..", a link that leads out, and a file behind a link are errors, after
// which the caller removes the folder's content. One link may lead out, bin/python*, because
// virtual environments use the interpreter that created them. `progress` is called now and then
// with the number of bytes of the archive that were read. INVALID_ARG if the archive is broken,
// UNAVAILABLE if libarchive is not installed.
Error Unpack(const std::string& archive, const std::string& folder,
             const std::function<void(int64_t bytes)>& progress);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_ARCHIVE_H_
