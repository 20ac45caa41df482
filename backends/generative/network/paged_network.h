// SPDX-License-Identifier: Apache-2.0
// A decoder in OpenVINO, whose attention reads keys and values from blocks.
//
// PagedModel is the compiled graph, which all instances share: immutable, thread-safe. A
// PagedNetwork has the blocks and the infer request of one instance.
#ifndef NEREID_BACKENDS_GENERATIVE_NETWORK_PAGED_NETWORK_H_
#define NEREID_BACKENDS_GENERATIVE_NETWORK_PAGED_NETWORK_H_

#include <cstdint>
#include <memory>
#include <openvino/openvino.hpp>
#include <span>
#include <string>
#include <vector>

#include "backends/generative/network/step_network.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

struct PagedModelOptions {
  int threads = 1;
  std::string precision;  // "f32", "bf16", "f16"; "": the runtime's choice
};

class PagedModel {
 public:
  // Reads the stateful graph at `path`, replaces its states by blocks and compiles it. INVALID_ARG
  // if it is not a decoder of that kind, INTERNAL with the runtime's text if that fails.
  static Result<std::unique_ptr<PagedModel>> Load(const std::string& path,
                                                  const PagedModelOptions& options);
  ~PagedModel();

  int32_t block_size() const { return block_size_; }
  // What the keys and values of a block take in all layers together.
  int64_t block_bytes() const { return block_bytes_; }
  // 0: the graph does not say.
  int64_t vocabulary() const { return vocabulary_; }
  // "bf16": what the network computes in, and what the blocks hold.
  std::string precision() const { return precision_; }

 private:
  friend class PagedNetwork;

  PagedModel() = default;
  Error Page(const std::string& path, ov::Core* core);
  Error Compile(const PagedModelOptions& options, ov::Core* core);
  Error MeasureBlocks();

  std::shared_ptr<ov::Model> graph_;  // until it is compiled
  mutable ov::CompiledModel compiled_;
  std::vector<ov::Output<const ov::Node>> caches_;
  bool has_positions_ = false;
  int32_t block_size_ = 0;
  int64_t block_bytes_ = 0;
  int64_t vocabulary_ = 0;
  std::string precision_;
};

class PagedNetwork : public StepNetwork {
 public:
  // With `blocks` empty blocks. Computes a first step, because the runtime compiles kernels then.
  static Result<std::unique_ptr<PagedNetwork>> Create(const PagedModel& model, int32_t blocks);
  ~PagedNetwork() override;

  Error Compute(const Step& step) override;
  std::span<const float> Logits(size_t index) const override;

 private:
  PagedNetwork(const PagedModel& model, int32_t blocks);
  void SetInputs(const Step& step);

  const PagedModel& model_;
  ov::InferRequest request_;
  std::span<const float> logits_;
  size_t row_ = 0;  // logits of a token
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_NETWORK_PAGED_NETWORK_H_
