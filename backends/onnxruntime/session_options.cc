// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/session_options.h"

#include <algorithm>

#include "backends/onnxruntime/options.h"
#include "backends/sdk/graph/accelerators.h"
#include "backends/sdk/log.h"
#include "backends/sdk/options.h"

namespace nereid_backend {
namespace {

constexpr const char* kArenaShrinkage = "memory.enable_memory_arena_shrinkage";
constexpr const char* kIntraOpSpinning = "session.intra_op.allow_spinning";

// Sets the arena whose memory is given back after each Run. `value`: arenas with ';' between them,
// "cpu:0;gpu:0", of which those of GPUs are left out, so that machines with and without GPUs can
// share a configuration.
Error SetShrinkage(const ModelConfig& config, const std::string& value, SessionRequest* request) {
  std::string rest = value + ";";
  while (!rest.empty()) {
    const std::string arena = rest.substr(0, rest.find(';'));
    rest.erase(0, arena.size() + 1);
    if (arena == "cpu:0") {
      request->arena_shrinkage = arena;
    } else if (arena.starts_with("gpu:")) {
      NB_LOG_INFO("model '", config.name, "': '", arena, "' of the parameter '", kArenaShrinkage,
                  "' has no effect: ", kNoCuda);
    } else {
      return Error::InvalidArg(StrCat("parameter '", kArenaShrinkage, "' of model '", config.name,
                                      "' must be 'cpu:0', the only arena of this backend, got '",
                                      value, "'"));
    }
  }
  return Error();
}

Error ApplyParameters(const ModelConfig& config, SessionRequest* request) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kOnnxruntimeOptions, config));
  request->intra_op_threads = given.Integer("intra_op_thread_count");
  request->inter_op_threads = given.Integer("inter_op_thread_count");
  request->parallel = given.Bool("execution_mode").value_or(false);
  request->mem_arena = given.Bool("enable_mem_arena");
  request->mem_pattern = given.Bool("enable_mem_pattern");
  request->terminate_late_runs = given.Bool("terminate_late_runs").value_or(false);
  request->entries = given.by_prefix();
  if (const auto shrinkage = given.Text(kArenaShrinkage); shrinkage.has_value()) {
    NB_RETURN_IF_ERROR(SetShrinkage(config, *shrinkage, request));
  }
  if (!request->arena_shrinkage.empty() && !request->mem_arena.value_or(true)) {
    return Error::InvalidArg(StrCat("model '", config.name,
                                    "' shrinks the memory arena that its parameter "
                                    "'enable_mem_arena' turns off"));
  }
  return Error();
}

// `optimization.graph.level`: -1 basic, 1 extended, 2 none, otherwise all.
GraphOptimizationLevel ReadGraphLevel(const ModelConfig& config) {
  const int64_t level = config.json["optimization"]["graph"]["level"].AsInt(0);
  if (level < -1 || level > 2) {
    NB_LOG_WARNING("model '", config.name, "': optimization.graph.level ", level,
                   " is unknown and means all optimizations, as 0 does (-1: basic, 1: extended, 2: "
                   "none)");
  }
  switch (level) {
    case -1:
      return ORT_ENABLE_BASIC;
    case 1:
      return ORT_ENABLE_EXTENDED;
    case 2:
      return ORT_DISABLE_ALL;
    default:
      return ORT_ENABLE_ALL;
  }
}

Error ReadAccelerators(const ModelConfig& config, SessionRequest* request) {
  NB_RETURN_IF_ERROR(CheckGpuAccelerators(config, {"tensorrt", "cuda", "auto_io", "gpu_io"}));
  const Json& accelerators = config.json["optimization"]["execution_accelerators"];
  for (const Json& item : accelerators["cpu_execution_accelerator"].items()) {
    const std::string name = item["name"].AsString();
    if (name != "openvino") {
      return Error::InvalidArg(StrCat("unknown Execution Accelerator '", name,
                                      "' is requested (known for CPU: openvino)"));
    }
    request->openvino.emplace();
    for (const auto& [key, value] : item["parameters"].members()) {
      request->openvino->emplace_back(key, value.AsString());
    }
  }
  return Error();
}

}  // namespace

Result<SessionRequest> SessionRequest::FromConfig(const ModelConfig& config) {
  SessionRequest request;
  NB_RETURN_IF_ERROR(ApplyParameters(config, &request));
  request.graph_level = ReadGraphLevel(config);
  NB_RETURN_IF_ERROR(ReadAccelerators(config, &request));
  request.op_libraries = config.OperatorLibraries();
  return request;
}

bool SessionRequest::OwnThreads(const Environment& environment) const {
  return !environment.settings().global_pool || intra_op_threads.has_value() ||
         inter_op_threads.has_value() || parallel;
}

std::string SessionRequest::ThreadPlan(const Environment& environment) const {
  const int budget = environment.budget().threads;
  const std::string reason = StrCat(" (", environment.budget().Describe(), ")");
  if (!OwnThreads(environment)) {
    return StrCat("shared pool, ", environment.shared_intra_threads(), " threads a run", reason);
  }
  const auto count = [&](const std::optional<int64_t>& asked) {
    return asked.value_or(0) > 0 ? *asked : budget;
  };
  const std::string intra = StrCat("own pool, ", count(intra_op_threads), " threads a run");
  const std::string inter =
      parallel ? StrCat(", operators in parallel on ", count(inter_op_threads)) : "";
  return intra + inter + reason;
}

Result<Ort::SessionOptions> SessionRequest::Build(const Environment& environment) const {
  Ort::SessionOptions options;
  const auto count = [&](const std::optional<int64_t>& asked) {
    return static_cast<int>(asked.value_or(0) > 0 ? *asked : environment.budget().threads);
  };
  if (OwnThreads(environment)) {
    options.SetIntraOpNumThreads(count(intra_op_threads));
    options.SetInterOpNumThreads(parallel ? count(inter_op_threads) : 1);
  } else {
    options.DisablePerSessionThreads();
  }
  options.SetExecutionMode(parallel ? ORT_PARALLEL : ORT_SEQUENTIAL);
  options.SetGraphOptimizationLevel(graph_level);
  if (arena_enabled()) {
    options.EnableCpuMemArena();
  } else {
    options.DisableCpuMemArena();
  }
  if (pattern_enabled()) {
    options.EnableMemPattern();
  } else {
    options.DisableMemPattern();
  }
  const bool spin_chosen = std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.first == kIntraOpSpinning;
  });
  if (OwnThreads(environment) && !spin_chosen) {
    options.AddConfigEntry(kIntraOpSpinning, environment.settings().spinning ? "1" : "0");
  }
  for (const auto& [key, value] : entries) options.AddConfigEntry(key.c_str(), value.c_str());
  if (openvino.has_value()) {
    NB_RETURN_IF_ERROR(environment.openvino()->Append(environment.ort(), options, *openvino));
  }
  for (const std::string& library : op_libraries) options.RegisterCustomOpsLibrary(library.c_str());
  return options;
}

Ort::RunOptions SessionRequest::BuildRunOptions() const {
  Ort::RunOptions options;
  if (!arena_shrinkage.empty()) {
    options.AddConfigEntry(kArenaShrinkage, arena_shrinkage.c_str());
  }
  return options;
}

}  // namespace nereid_backend
