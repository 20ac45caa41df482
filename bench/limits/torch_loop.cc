// SPDX-License-Identifier: Apache-2.0
// PyTorch in a loop, on a TorchScript file; framework_loop.h describes the arguments. INPUT is the
// argument of forward; OUTPUT is not used.
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <vector>

#include "bench/limits/framework_loop.h"

namespace {

void Loop(const nereid_bench::LoopOptions& options) {
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  torch::jit::Module module = torch::jit::load(options.model);
  module.eval();
  const torch::jit::Method forward = module.get_method("forward");
  std::vector<float> values = nereid_bench::LoopValues(options.shapes[0]);
  std::vector<torch::jit::Kwargs> by_name;
  for (const std::vector<int64_t>& shape : options.shapes) {
    by_name.push_back({{options.input, torch::from_blob(values.data(), shape)}});
  }
  nereid_bench::Measure(options, [&](size_t shape) { forward({}, by_name[shape]); });
}

}  // namespace

int main(int argc, char** argv) { return nereid_bench::LoopMain(argc, argv, &Loop); }
