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
  std::vector<float> values = nereid_bench::LoopValues(options.shape);
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const Ort::Value input = Ort::Value::CreateTensor<float>(
      memory, values.data(), values.size(), options.shape.data(), options.shape.size());
  nereid_bench::Measure(options, [&] {
    session.Run(Ort::RunOptions{nullptr}, &options.input, &input, 1, &options.output, 1);
  });
}

}  // namespace

int main(int argc, char** argv) { return nereid_bench::LoopMain(argc, argv, &Loop); }
