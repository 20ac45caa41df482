// ONNX Runtime called in-process in a loop, with one thread: what a model costs without a server.
//
//   ort_loop MODEL.onnx INPUT OUTPUT BATCH SECONDS
//
// The input has the shape [BATCH, 64]. Prints {"batch":N,"runs":N,"us_per_run":X} and a newline.
#include <absl/strings/numbers.h>
#include <onnxruntime_cxx_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFeatures = 64;

int Loop(const char* model, const char* input_name, const char* output_name, int64_t batch,
         double seconds) {
  Ort::InitApi();
  Ort::Env environment(ORT_LOGGING_LEVEL_WARNING, "ort_loop");
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  options.SetInterOpNumThreads(1);
  Ort::Session session(environment, model, options);

  const std::vector<int64_t> shape = {batch, kFeatures};
  std::vector<float> values(static_cast<size_t>(batch * kFeatures));
  std::iota(values.begin(), values.end(), 0.0f);
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const Ort::Value input = Ort::Value::CreateTensor<float>(memory, values.data(), values.size(),
                                                           shape.data(), shape.size());
  const auto run = [&] {
    session.Run(Ort::RunOptions{nullptr}, &input_name, &input, 1, &output_name, 1);
  };
  for (int i = 0; i < 100; ++i) run();
  int64_t runs = 0;
  const Clock::time_point start = Clock::now();
  std::chrono::duration<double> elapsed{0};
  while (elapsed.count() < seconds) {
    for (int i = 0; i < 100; ++i) run();
    runs += 100;
    elapsed = Clock::now() - start;
  }
  std::printf("{\"batch\":%lld,\"runs\":%lld,\"us_per_run\":%.3f}\n", static_cast<long long>(batch),
              static_cast<long long>(runs), elapsed.count() * 1e6 / static_cast<double>(runs));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t batch = 0;
  double seconds = 0;
  if (argc != 6 || !absl::SimpleAtoi(argv[4], &batch) || !absl::SimpleAtod(argv[5], &seconds) ||
      batch < 1) {
    std::fprintf(stderr, "usage: %s MODEL.onnx INPUT OUTPUT BATCH SECONDS\n", argv[0]);
    return 2;
  }
  try {
    return Loop(argv[1], argv[2], argv[3], batch, seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ort_loop: %s\n", error.what());
    return 1;
  }
}
