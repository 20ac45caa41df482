#include "tune/engine.h"

#include <absl/algorithm/container.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <utility>

namespace nereid {
namespace {

constexpr std::array<std::pair<absl::string_view, absl::string_view>, 4> kThreadParameters = {{
    {"onnxruntime", "intra_op_thread_count"},
    {"openvino", "INFERENCE_NUM_THREADS"},
    {"pytorch", "INTRA_OP_THREAD_COUNT"},
    {"tensorflow", "TF_NUM_INTRA_THREADS"},
}};

}  // namespace

std::string NameOf(const Engine& engine) {
  if (engine.threads == 0) return "";
  return absl::StrCat(engine.threads, " thread", engine.threads == 1 ? "" : "s");
}

std::string ThreadParameterOf(absl::string_view backend) {
  for (const auto& [name, parameter] : kThreadParameters) {
    if (name == backend) return std::string(parameter);
  }
  return "";
}

Engine EngineOf(const CompiledModel& model) {
  Engine engine;
  const auto found = model.parameters.find(ThreadParameterOf(model.backend));
  if (found == model.parameters.end() || !absl::SimpleAtoi(found->second, &engine.threads)) {
    engine.threads = 0;
  }
  return engine;
}

std::vector<Engine> EnginesFor(const CompiledModel& model, int processors,
                               const std::vector<int>& asked) {
  std::vector<Engine> engines = {EngineOf(model)};
  if (ThreadParameterOf(model.backend).empty()) return engines;
  std::vector<int> counts = asked;
  if (counts.empty()) {
    for (int count = 1; count < processors; count *= 2) counts.push_back(count);
    if (engines[0].threads > 0) counts.push_back(processors);
  }
  for (const int count : counts) {
    if (!absl::c_linear_search(engines, Engine{count})) engines.push_back({count});
  }
  return engines;
}

}  // namespace nereid
