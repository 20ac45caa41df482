// SPDX-License-Identifier: Apache-2.0
// What can be given to the models of the backend fil. Constants.
#ifndef NEREID_BACKENDS_FIL_OPTIONS_H_
#define NEREID_BACKENDS_FIL_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr std::string_view kForGpus = "it is for GPUs, and this backend computes on a CPU";
inline constexpr std::string_view kOneEvaluator = "this backend has one evaluator for all models";

// The names are those of Triton's backend.
inline constexpr OptionSpec kFilParameters[] = {
    ChoiceOption("model_type", "xgboost|xgboost_json|xgboost_ubj|lightgbm|treelite_checkpoint"),
    BoolOption("output_class"),
    OtherName("is_classifier", "output_class", ""),
    BoolOption("predict_proba"),
    NonEmptyOption("threshold"),

    WithoutEffect(BoolOption("xgboost_allow_unknown_field"),
                  "unknown fields of a file are always allowed"),
    WithoutEffect(BoolOption("use_experimental_optimizations"), kOneEvaluator),
    WithoutEffect(TextOption("storage_type"), kForGpus),
    WithoutEffect(TextOption("algo"), kForGpus),
    WithoutEffect(TextOption("blocks_per_sm"), kForGpus),
    WithoutEffect(TextOption("threads_per_tree"), kForGpus),
    WithoutEffect(TextOption("transfer_threshold"), kForGpus),
    WithoutEffect(TextOption("cuda_chunk_size"), kForGpus),
};

inline constexpr BackendOptions kFilOptions = {"fil", kFilParameters, {}};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_OPTIONS_H_
