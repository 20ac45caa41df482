// SPDX-License-Identifier: Apache-2.0
// TfsSpec: how a model looks to clients of TensorFlow Serving's API: its signatures and the labels
// of its versions. Plain values, read from the parameters of the configuration that begin with
// `tfs.`.
#ifndef NEREID_CONFIG_TFS_SPEC_H_
#define NEREID_CONFIG_TFS_SPEC_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid {

struct CompiledModel;

// The signature of requests that name none; each model has it.
inline constexpr char kTfsDefaultSignature[] = "serving_default";
// The outputs of a signature that classifies.
inline constexpr char kTfsScores[] = "scores";
inline constexpr char kTfsClasses[] = "classes";

enum class TfsMethod : uint8_t { kPredict, kClassify, kRegress };

struct TfsTensor {
  std::string key;   // the client's name for it
  size_t index = 0;  // among the model's inputs or outputs
};

struct TfsSignature {
  TfsMethod method = TfsMethod::kPredict;
  std::vector<TfsTensor> inputs;
  std::vector<TfsTensor> outputs;
};

struct TfsSpec {
  std::map<std::string, TfsSignature> signatures;  // by name
  std::map<std::string, int64_t> version_labels;
};

// Reads `model->tfs` from the parameters of `model`, whose inputs and outputs are there already.
// INVALID_ARGUMENT for a parameter that is wrong, whose name is then `*wrong` unless that is null.
absl::Status ReadTfsParameters(CompiledModel* model, std::string* wrong = nullptr);

}  // namespace nereid

#endif  // NEREID_CONFIG_TFS_SPEC_H_
