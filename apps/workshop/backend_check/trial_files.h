// SPDX-License-Identifier: Apache-2.0
// TrialFiles: a model repository and a folder of backends made for one trial: links to the library
// under check and to the model's files, and a configuration that the trial may rewrite. Owned by
// the command; removed with the object.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_FILES_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_FILES_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "config/compiled_model.h"
#include "filesystem/temp_directory.h"

namespace nereid {

class TrialFiles {
 public:
  // `library`: .../libtriton_NAME.so; `model`: the folder of a model that the backend NAME can
  // serve, or empty: the model is made up. INVALID_ARGUMENT if one of them is not that.
  static absl::StatusOr<std::unique_ptr<TrialFiles>> Make(const std::string& library,
                                                          const std::string& model);
  // NAME of libtriton_NAME.so; empty if the file is called otherwise.
  static std::string BackendName(const std::string& library);

  std::string repository() const { return folder_->path() + "/models"; }
  std::string backends() const { return folder_->path() + "/backends"; }
  const std::string& model() const { return model_; }

 private:
  TrialFiles(std::unique_ptr<TempDirectory> folder, std::string model)
      : folder_(std::move(folder)), model_(std::move(model)) {}

  const std::unique_ptr<TempDirectory> folder_;
  const std::string model_;  // its name
};

// Links to everything in the folder `from`, but for the file config.pbtxt. INTERNAL if that fails.
absl::Status LinkModelFiles(const std::string& from, const std::string& to);

// Gives the trial model in `folder` two instances more and, if it has batches and no other wish,
// batches formed by the server. `loaded`: the model as it is. The model has to be loaded again.
absl::Status WidenTrialModel(const std::string& folder, const CompiledModel& loaded);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_TRIAL_FILES_H_
