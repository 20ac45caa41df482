// SPDX-License-Identifier: Apache-2.0
// For the tests and fuzzers of this folder: a model that only describes its tensors and signatures.
#ifndef NEREID_FRONTENDS_TFS_TFS_TESTING_H_
#define NEREID_FRONTENDS_TFS_TFS_TESTING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/compiled_model.h"
#include "frontends/codec/codec_testing.h"

namespace nereid::tfs_testing {

struct TestTensor {
  std::string name;
  DataType type = DataType::kFp32;
  Shape dims = {kVariableDim};
  std::optional<Shape> reshape = {};
};

// A model "m", version 3, with a default signature of all its tensors, under their names, and the
// same as the signatures "classify" and "regress".
inline CompiledModel MakeConfig(const std::vector<TestTensor>& inputs,
                                const std::vector<TestTensor>& outputs, int32_t max_batch_size) {
  CompiledModel config;
  config.name = "m";
  config.version = 3;
  config.max_batch_size = max_batch_size;
  TfsSignature signature;
  for (const TestTensor& input : inputs) {
    InputSpec spec;
    spec.name = input.name;
    spec.data_type = input.type;
    spec.dims = input.dims;
    spec.reshape = input.reshape;
    signature.inputs.push_back({spec.name, config.inputs.size()});
    config.inputs.push_back(std::move(spec));
  }
  for (const TestTensor& output : outputs) {
    OutputSpec spec;
    spec.name = output.name;
    spec.data_type = output.type;
    spec.dims = output.dims;
    spec.reshape = output.reshape;
    signature.outputs.push_back({spec.name, config.outputs.size()});
    config.outputs.push_back(std::move(spec));
  }
  config.tfs.signatures[kTfsDefaultSignature] = signature;
  signature.method = TfsMethod::kClassify;
  config.tfs.signatures["classify"] = signature;
  signature.method = TfsMethod::kRegress;
  config.tfs.signatures["regress"] = signature;
  return config;
}

inline std::shared_ptr<ServingModel> MakeTfsModel(CompiledModel config, OutputLabels labels = {}) {
  return std::make_shared<codec_testing::TestModel>(std::move(config), std::move(labels));
}

}  // namespace nereid::tfs_testing

#endif  // NEREID_FRONTENDS_TFS_TFS_TESTING_H_
