// SPDX-License-Identifier: Apache-2.0
// For the tests and fuzzers of this folder: a model that only describes its tensors, and bodies
// placed in memory as a transport would place them.
#ifndef NEREID_FRONTENDS_CODEC_CODEC_TESTING_H_
#define NEREID_FRONTENDS_CODEC_CODEC_TESTING_H_

#include <absl/strings/string_view.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/codec/v2_request_reader.h"
#include "infer/serving_model.h"

namespace nereid::codec_testing {

class TestModel final : public ServingModel {
 public:
  TestModel(CompiledModel config, OutputLabels labels)
      : ServingModel(std::make_shared<const CompiledModel>(std::move(config)), std::move(labels),
                     nullptr) {}
  absl::Status Enqueue(RequestPtr*) override {
    return absl::UnavailableError("a test model serves nothing");
  }
  bool AdmissionOpen() const override { return false; }
  absl::Status CheckReady() override { return absl::OkStatus(); }
  void OnCancel(InferRequest*) override {}
};

// A model "m" version 1 with outputs OUTPUT0, OUTPUT1, ... of the given types.
inline std::shared_ptr<TestModel> MakeModel(const std::vector<DataType>& outputs = {},
                                            int32_t max_batch_size = 0, OutputLabels labels = {}) {
  CompiledModel config;
  config.name = "m";
  config.version = 1;
  config.max_batch_size = max_batch_size;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputSpec spec;
    spec.name = "OUTPUT" + std::to_string(i);
    spec.data_type = outputs[i];
    spec.dims = {kVariableDim};
    config.outputs.push_back(std::move(spec));
  }
  return std::make_shared<TestModel>(std::move(config), std::move(labels));
}

struct TestInput {
  std::string name;
  DataType type;
  Shape dims;
};

// A model "m" version 1 with these inputs.
inline std::shared_ptr<TestModel> MakeModelWithInputs(const std::vector<TestInput>& inputs,
                                                      int32_t max_batch_size = 0) {
  CompiledModel config;
  config.name = "m";
  config.version = 1;
  config.max_batch_size = max_batch_size;
  for (const TestInput& input : inputs) {
    InputSpec spec;
    spec.name = input.name;
    spec.data_type = input.type;
    spec.dims = input.dims;
    config.inputs.push_back(std::move(spec));
  }
  return std::make_shared<TestModel>(std::move(config), OutputLabels());
}

// A copy of `bytes` followed by kBodyPadding arbitrary bytes, placed so that byte `aligned_at` is
// `skew` bytes after a 64-byte boundary. Immutable, move-only.
class PaddedBytes {
 public:
  explicit PaddedBytes(absl::string_view bytes, size_t aligned_at = 0, size_t skew = 0)
      : size_(bytes.size()) {
    const size_t front = (64 - aligned_at % 64) % 64 + skew;
    const size_t total = (front + size_ + kBodyPadding + 63) / 64 * 64;
    block_.reset(static_cast<char*>(std::aligned_alloc(64, total)));
    std::memset(block_.get(), '7', total);
    data_ = block_.get() + front;
    if (size_ > 0) std::memcpy(data_, bytes.data(), size_);
  }

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  absl::string_view view() const { return {data_, size_}; }

 private:
  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  std::unique_ptr<char[], Free> block_;
  char* data_;
  size_t size_;
};

}  // namespace nereid::codec_testing

#endif  // NEREID_FRONTENDS_CODEC_CODEC_TESTING_H_
