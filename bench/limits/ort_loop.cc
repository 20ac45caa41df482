// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime in a loop; framework_loop.h describes the arguments.
#include <onnxruntime_cxx_api.h>

#include <vector>

#include "bench/limits/framework_loop.h"

namespace {

void Loop(const nereid_bench::LoopOptions& options) {
  Ort::InitApi();
  Ort::Env environment(ORT_LOGGING_LEVEL_WARNING, "ort_loop");
  Ort::SessionOptions session_options;
  session_options.SetIntraOpNumThreads(1);
  session_options.SetInterOpNumThreads(1);
  Ort::Session session(environment, options.model, session_options);
  std::vector<float> values = nereid_bench::LoopValues(options.shapes[0]);
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  std::vector<Ort::Value> inputs;
  for (const std::vector<int64_t>& shape : options.shapes) {
    inputs.push_back(Ort::Value::CreateTensor<float>(
        memory, values.data(), nereid_bench::CountOf(shape), shape.data(), shape.size()));
  }
  nereid_bench::Measure(options, [&](size_t shape) {
    session.Run(Ort::RunOptions{nullptr}, &options.input, &inputs[shape], 1, &options.output, 1);
  });
}

}  // namespace

int main(int argc, char** argv) { return nereid_bench::LoopMain(argc, argv, &Loop); }
