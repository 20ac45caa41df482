// SPDX-License-Identifier: Apache-2.0
#include "tune/engine.h"

#include <absl/algorithm/container.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

namespace nereid {
namespace {

constexpr std::array<std::pair<absl::string_view, absl::string_view>, 4> kThreadParameters = {{
    {"onnxruntime", "intra_op_thread_count"},
    {"openvino", "INFERENCE_NUM_THREADS"},
    {"pytorch", "INTRA_OP_THREAD_COUNT"},
    {"tensorflow", "TF_NUM_INTRA_THREADS"},
}};

// Backends that read files with the same endings.
constexpr std::array<std::pair<absl::string_view, std::array<absl::string_view, 2>>, 2> kReaders = {
    {
        {".onnx", {"onnxruntime", "openvino"}},
        {".savedmodel", {"tensorflow", "openvino"}},
    }};

}  // namespace

std::string NameOf(const Engine& engine) {
  std::string name = engine.backend;
  if (engine.threads == 0) return name;
  return absl::StrCat(name, name.empty() ? "" : " with ", engine.threads, " thread",
                      engine.threads == 1 ? "" : "s");
}

std::set<std::string> InstalledBackends(const std::string& directory) {
  std::set<std::string> installed;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    const auto library = entry.path() / absl::StrCat("libtriton_", name, ".so");
    if (std::filesystem::is_regular_file(library, error)) installed.insert(name);
  }
  return installed;
}

std::vector<std::string> OtherBackendsFor(const CompiledModel& model,
                                          const std::set<std::string>& installed) {
  std::vector<std::string> others;
  for (const auto& [ending, readers] : kReaders) {
    if (!absl::EndsWith(model.default_model_filename, ending)) continue;
    if (!absl::c_linear_search(readers, model.backend)) continue;
    for (const absl::string_view reader : readers) {
      const std::string name(reader);
      if (name != model.backend && installed.contains(name)) others.push_back(name);
    }
  }
  return others;
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
                               const std::vector<int>& asked,
                               const std::vector<std::string>& other_backends) {
  std::vector<Engine> engines;
  const auto add = [&](const Engine& first, absl::string_view backend) {
    engines.push_back(first);
    if (ThreadParameterOf(backend).empty()) return;
    std::vector<int> counts = asked;
    if (counts.empty()) {
      for (int count = 1; count < processors; count *= 2) counts.push_back(count);
      if (first.threads > 0) counts.push_back(processors);
    }
    for (const int count : counts) {
      const Engine engine{count, first.backend};
      if (!absl::c_linear_search(engines, engine)) engines.push_back(engine);
    }
  };
  add(EngineOf(model), model.backend);
  for (const std::string& backend : other_backends) add({0, backend}, backend);
  return engines;
}

}  // namespace nereid
