// SPDX-License-Identifier: Apache-2.0
// One model's folder where a repository is expected: platforms like KServe lay down either, and do
// not say which. Blocks on file I/O.
#ifndef NEREID_REPOSITORY_SINGLE_MODEL_H_
#define NEREID_REPOSITORY_SINGLE_MODEL_H_

#include <string>

#include "base/export.h"
#include "filesystem/file_system.h"
#include "repository/snapshot.h"

namespace nereid {

// Whether `directory` is the folder of one model rather than a repository: it holds config.pbtxt or
// a version's folder, and no folder in it is a model's. False if it cannot be read.
NEREID_API bool IsSingleModel(const FileSystem& fs, const std::string& directory);

// Finds out which of the layout's repositories are the folder of one model, and notes the names of
// these models: `name`, or if that is empty, the name in config.pbtxt, or that of the folder.
NEREID_API void FindSingleModels(const FileSystem& fs, const std::string& name,
                                 RepositoryLayout* layout);

}  // namespace nereid

#endif  // NEREID_REPOSITORY_SINGLE_MODEL_H_
