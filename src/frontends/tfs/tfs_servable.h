// SPDX-License-Identifier: Apache-2.0
// The model that a request of TensorFlow Serving's API asks for. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_SERVABLE_H_
#define NEREID_FRONTENDS_TFS_TFS_SERVABLE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/compiled_model.h"
#include "infer/serving_model.h"
#include "server/server.h"

namespace nereid {

struct TfsModelSpec {
  std::string name;
  std::optional<int64_t> version;  // none, and no label: the latest
  std::string label;               // stands for a version
};

// The version that `spec` asks for by number or by label; none: the latest. NOT_FOUND if the model
// is not there, INVALID_ARGUMENT for a label that it does not have.
absl::StatusOr<std::optional<int64_t>> TfsVersion(const Server& server, const TfsModelSpec& spec);

// The model. Errors of TfsVersion and Server::FindModel, with the texts of this API.
absl::StatusOr<std::shared_ptr<ServingModel>> FindTfsModel(const Server& server,
                                                           const TfsModelSpec& spec);

// UNIMPLEMENTED for a model that may send several responses.
absl::Status CheckTfsModel(const CompiledModel& model);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_SERVABLE_H_
