// SPDX-License-Identifier: Apache-2.0
// Body of SageMaker's request to load a model. Pure function, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_SAGEMAKER_REQUEST_H_
#define NEREID_FRONTENDS_CODEC_SAGEMAKER_REQUEST_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>

#include "frontends/codec/parse_cost.h"

namespace nereid {

struct SagemakerLoad {
  std::string name;  // by which SageMaker calls the model
  std::string url;   // the folder where it has unpacked the archive
};

// {"model_name": "...", "url": "..."}. INVALID_ARGUMENT for anything else, and for names and paths
// that are empty or too long.
absl::StatusOr<SagemakerLoad> ReadSagemakerLoad(absl::string_view body, const ParseBudget& budget);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_SAGEMAKER_REQUEST_H_
