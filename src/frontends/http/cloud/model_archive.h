// SPDX-License-Identifier: Apache-2.0
// Where the model lies in an archive that SageMaker has unpacked. Pure function; reads the file
// system, so it is not called on I/O threads.
#ifndef NEREID_FRONTENDS_HTTP_CLOUD_MODEL_ARCHIVE_H_
#define NEREID_FRONTENDS_HTTP_CLOUD_MODEL_ARCHIVE_H_

#include <absl/status/statusor.h>

#include <string>

namespace nereid {

struct ArchiveModel {
  std::string repository;  // the folder to register
  std::string folder;      // in it, the model's
};

// `url` is a model's own folder, which holds a config.pbtxt, or a folder with one model, or with an
// ensemble and its members; then the ensemble counts. INVALID_ARGUMENT for anything else, and for
// paths into the kernel's file systems.
absl::StatusOr<ArchiveModel> FindArchiveModel(const std::string& url);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CLOUD_MODEL_ARCHIVE_H_
