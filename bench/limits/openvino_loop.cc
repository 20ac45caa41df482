// SPDX-License-Identifier: Apache-2.0
// OpenVINO in a loop, on any file that it can read; framework_loop.h describes the arguments. One
// more argument gives the precision in which FP32 is computed (f32, bf16); the default is f32.
#include <openvino/openvino.hpp>

#include <string>
#include <vector>

#include "bench/limits/framework_loop.h"

namespace {

void Loop(const nereid_bench::LoopOptions& options) {
  const std::string precision = options.extra == nullptr ? "f32" : options.extra;
  ov::Core core;
  ov::CompiledModel model = core.compile_model(
      std::string(options.model), "CPU",
      ov::AnyMap{ov::inference_num_threads(1), ov::hint::enable_cpu_pinning(false),
                 ov::hint::inference_precision(ov::element::Type(precision))});
  ov::InferRequest request = model.create_infer_request();
  request.get_tensor(options.output);  // throws if there is no such output
  std::vector<float> values = nereid_bench::LoopValues(options.shapes[0]);
  std::vector<ov::Tensor> inputs;
  for (const std::vector<int64_t>& shape : options.shapes) {
    inputs.emplace_back(ov::element::f32, ov::Shape(shape.begin(), shape.end()), values.data());
  }
  nereid_bench::Measure(options, [&](size_t shape) {
    request.set_tensor(options.input, inputs[shape]);
    request.infer();
  });
}

}  // namespace

int main(int argc, char** argv) { return nereid_bench::LoopMain(argc, argv, &Loop, "PRECISION"); }
