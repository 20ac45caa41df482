// OpenVINO called in-process in a loop, with one thread: what a model costs without a server.
//
//   openvino_loop MODEL INPUT OUTPUT SHAPE SECONDS [PAUSE_US [PRECISION]]
//
// MODEL is any file that OpenVINO reads. SHAPE is that of the FP32 input with the batch in front,
// for instance 16,64. With PAUSE_US the thread sleeps so long after each run, as that of a server
// does which waits for the next request: only the runs are timed. FP32 is computed in PRECISION
// (f32, bf16), by default f32. Prints {"shape":"S","runs":N,"us_per_run":X} and a newline.
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <sys/prctl.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <openvino/openvino.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// Empty for what is no shape.
std::vector<int64_t> ParseShape(const char* text) {
  std::vector<int64_t> shape;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 1) return {};
    shape.push_back(dim);
  }
  return shape;
}

// The input that the load generator sends, too: small whole numbers.
std::vector<float> Values(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17);
  return values;
}

int Loop(char** words, double seconds, std::chrono::microseconds pause,
         const std::string& precision) {
  const std::vector<int64_t> shape = ParseShape(words[4]);
  ov::Core core;
  ov::CompiledModel model = core.compile_model(
      std::string(words[1]), "CPU",
      ov::AnyMap{ov::inference_num_threads(1), ov::hint::enable_cpu_pinning(false),
                 ov::hint::inference_precision(ov::element::Type(precision))});
  ov::InferRequest request = model.create_infer_request();
  std::vector<float> values = Values(shape);
  request.set_tensor(
      words[2], ov::Tensor(ov::element::f32, ov::Shape(shape.begin(), shape.end()), values.data()));
  prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds; otherwise a pause is 50 us longer
  struct Found {
    int64_t runs = 0;
    std::chrono::duration<double> in_runs{0};
  };
  const auto run_for = [&](double length) {
    Found found;
    const Clock::time_point start = Clock::now();
    Clock::time_point before = start;
    while (before < start + std::chrono::duration<double>(length)) {
      request.infer();
      const Clock::time_point after = Clock::now();
      ++found.runs;
      found.in_runs += after - before;
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
      before = pause.count() > 0 ? Clock::now() : after;
    }
    return found;
  };
  run_for(seconds / 5);
  const Found found = run_for(seconds);
  request.get_tensor(words[3]);  // throws where there is no such output
  std::printf("{\"shape\":\"%s\",\"runs\":%lld,\"us_per_run\":%.3f}\n", words[4],
              static_cast<long long>(found.runs),
              found.in_runs.count() * 1e6 / static_cast<double>(found.runs));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  int pause_us = 0;
  if (argc < 6 || argc > 8 || ParseShape(argv[4]).empty() || !absl::SimpleAtod(argv[5], &seconds) ||
      (argc > 6 && !absl::SimpleAtoi(argv[6], &pause_us))) {
    std::fprintf(stderr, "usage: %s MODEL INPUT OUTPUT SHAPE SECONDS [PAUSE_US [PRECISION]]\n",
                 argv[0]);
    return 2;
  }
  try {
    return Loop(argv, seconds, std::chrono::microseconds(pause_us), argc > 7 ? argv[7] : "f32");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "openvino_loop: %s\n", error.what());
    return 1;
  }
}
