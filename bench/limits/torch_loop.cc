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
  std::vector<float> values = nereid_bench::LoopValues(options.shape);
  const torch::jit::Kwargs by_name = {
      {options.input, torch::from_blob(values.data(), options.shape)}};
  nereid_bench::Measure(options, [&] { forward({}, by_name); });
}

}  // namespace

int main(int argc, char** argv) { return nereid_bench::LoopMain(argc, argv, &Loop); }
