// SPDX-License-Identifier: Apache-2.0
#include "tune/tunable.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/status_macros.h"
#include "tune/engine.h"

namespace nereid {
namespace {

absl::Status CheckBatchSizes(const CompiledModel& served, const TuneOptions& options) {
  const int batch_size = static_cast<int>(options.load.batch_size);
  const int largest = std::max(served.max_batch_size, 1);
  if (batch_size > largest) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch-size is ", batch_size, "; the model's largest batch is ", largest));
  }
  if (served.max_batch_size == 0 && !options.max_batch_sizes.empty()) {
    return absl::InvalidArgumentError(
        "--max-batch-sizes has no meaning: the model's tensors have no batch dimension");
  }
  for (const int size : options.max_batch_sizes) {
    if (size >= batch_size) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--max-batch-sizes has ", size, ", which is less than --batch-size"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTunable(const CompiledModel& model) {
  const auto refuse = [&model](absl::string_view what) {
    return absl::FailedPreconditionError(absl::StrCat("the model '", model.name, "' ", what));
  };
  if (!model.ensemble.steps.empty()) {
    return refuse("is an ensemble within an ensemble; it is not tuned");
  }
  if (model.sequence.enabled) {
    return refuse("serves sequences, whose clients decide about its batches; it is not tuned");
  }
  if (model.decoupled) {
    return refuse("is decoupled: its executions do not end with its answers; it is not tuned");
  }
  return absl::OkStatus();
}

absl::Status CheckOptionsFor(const CompiledModel& served, const TuneOptions& options) {
  if (!served.ensemble.steps.empty()) {
    if (options.same_backend) {
      return absl::InvalidArgumentError(
          "--same-backend has no meaning for an ensemble, whose models keep their backends");
    }
    if (!options.max_batch_sizes.empty()) {
      return absl::InvalidArgumentError(
          "--max-batch-sizes has no meaning for an ensemble, whose models keep theirs");
    }
    if (!options.threads.empty()) {
      return absl::InvalidArgumentError(
          "--threads has no meaning for an ensemble; tune the threads of its models one by one");
    }
  } else if (!options.threads.empty() && ThreadParameterOf(served.backend).empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--threads has no meaning: the backend '",
                                                   served.backend,
                                                   "' has no parameter for its threads"));
  }
  return CheckBatchSizes(served, options);
}

}  // namespace nereid
