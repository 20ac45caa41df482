// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary bytes as the bodies of index, load and unload requests, and of those of
// SageMaker. The content of a load request must be a configuration or a file.
#include <absl/strings/match.h>

#include <cstdlib>
#include <string>

#include "frontends/codec/repository_request.h"
#include "frontends/codec/sagemaker_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy with nothing after it, so that reading too far is detected.
  const std::string json(reinterpret_cast<const char*>(data), size);
  nereid::ReadIndexRequest(json, nereid::ParseBudget::UpTo(1 << 20)).IgnoreError();
  nereid::ReadUnloadRequest(json, nereid::ParseBudget::UpTo(1 << 20)).IgnoreError();
  nereid::ReadSagemakerLoad(json, nereid::ParseBudget::UpTo(1 << 20)).IgnoreError();
  const auto parameters = nereid::ReadLoadRequest(json, nereid::ParseBudget::UpTo(1 << 20));
  if (!parameters.ok()) return 0;
  for (const nereid::LoadParameter& parameter : *parameters) {
    if (parameter.name != "config" && !absl::StartsWith(parameter.name, "file:")) std::abort();
  }
  return 0;
}
