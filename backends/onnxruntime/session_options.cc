#include "backends/onnxruntime/session_options.h"

#include <algorithm>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

constexpr int64_t kMaxThreads = 4096;
constexpr const char* kArenaShrinkage = "memory.enable_memory_arena_shrinkage";
constexpr const char* kIntraOpSpinning = "session.intra_op.allow_spinning";

using Apply = Error (*)(const std::string& what, const std::string& value, SessionRequest* request);

template <auto Member>
Error SetThreads(const std::string& what, const std::string& value, SessionRequest* request) {
  NB_ASSIGN_OR_RETURN(request->*Member, ParseInt(what, value, 0, kMaxThreads));
  return Error();
}

template <auto Member>
Error SetBool(const std::string& what, const std::string& value, SessionRequest* request) {
  NB_ASSIGN_OR_RETURN(request->*Member, ParseBool(what, value));
  return Error();
}

Error SetShrinkage(const std::string& what, const std::string& value, SessionRequest* request) {
  if (value != "cpu:0") {
    return Error::InvalidArg(
        StrCat(what, " must be 'cpu:0', the only arena of this backend, got '", value, "'"));
  }
  request->arena_shrinkage = value;
  return Error();
}

// The effect of a model's parameter. All names except the last are those of the original's ONNX
// backend.
struct Option {
  std::string_view name;
  Apply apply;
};
constexpr Option kOptions[] = {
    {"intra_op_thread_count", &SetThreads<&SessionRequest::intra_op_threads>},
    {"inter_op_thread_count", &SetThreads<&SessionRequest::inter_op_threads>},
    {"execution_mode", &SetBool<&SessionRequest::parallel>},
    {"enable_mem_arena", &SetBool<&SessionRequest::mem_arena>},
    {"enable_mem_pattern", &SetBool<&SessionRequest::mem_pattern>},
    {kArenaShrinkage, &SetShrinkage},
    {"terminate_late_runs", &SetBool<&SessionRequest::terminate_late_runs>},
};

// Parameters with these prefixes are passed to the runtime unchanged.
constexpr std::string_view kEntryPrefixes[] = {"session.", "optimization.", "ep.", "mlas."};

// CUDA options of the original, which mean nothing on a CPU.
constexpr std::string_view kCudaOptions[] = {"cudnn_conv_algo_search",
                                             "cudnn_conv_use_max_workspace", "gpu_mem_limit",
                                             "arena_extend_strategy", "do_copy_in_default_stream"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view item) {
  return std::find(std::begin(list), std::end(list), item) != std::end(list);
}

bool IsEntry(std::string_view name) {
  return std::any_of(
      std::begin(kEntryPrefixes), std::end(kEntryPrefixes),
      [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

Error ReadParameters(const ModelConfig& config, SessionRequest* request) {
  for (const auto& [name, json] : config.json["parameters"].members()) {
    const std::string value = json["string_value"].AsString();
    const auto option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                     [&, &key = name](const Option& o) { return o.name == key; });
    if (option != std::end(kOptions)) {
      const std::string what = StrCat("parameter '", name, "' of model '", config.name, "'");
      NB_RETURN_IF_ERROR(option->apply(what, value, request));
    } else if (IsEntry(name)) {
      request->entries.emplace_back(name, value);
    } else {
      if (Contains(kCudaOptions, name)) {
        NB_LOG_INFO("model '", config.name, "': parameter '", name, "' has no effect on CPU");
      }
      continue;  // parameters for other software are ignored
    }
    NB_LOG_INFO("Configuring ", name, " to ", value);
  }
  if (!request->arena_shrinkage.empty() && !request->mem_arena.value_or(true)) {
    return Error::InvalidArg(StrCat("model '", config.name,
                                    "' shrinks the memory arena that its parameter "
                                    "'enable_mem_arena' turns off"));
  }
  return Error();
}

// `optimization.graph.level`: -1 basic, 1 extended, 2 none, otherwise all.
GraphOptimizationLevel ReadGraphLevel(const Json& optimization) {
  switch (optimization["graph"]["level"].AsInt(0)) {
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
  static constexpr std::string_view kGpuNames[] = {"tensorrt", "cuda", "auto_io", "gpu_io"};
  const Json& accelerators = config.json["optimization"]["execution_accelerators"];
  for (const Json& item : accelerators["gpu_execution_accelerator"].items()) {
    const std::string name = item["name"].AsString();
    if (!Contains(kGpuNames, name)) {
      return Error::InvalidArg(StrCat("unknown Execution Accelerator '", name, "' is requested"));
    }
    NB_LOG_WARNING("model '", config.name, "': GPU execution accelerator '", name,
                   "' is ignored: this backend runs on CPU");
  }
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
  NB_RETURN_IF_ERROR(ReadParameters(config, &request));
  request.graph_level = ReadGraphLevel(config.json["optimization"]);
  NB_RETURN_IF_ERROR(ReadAccelerators(config, &request));
  for (const Json& library : config.json["model_operations"]["op_library_filename"].items()) {
    const std::string path = library.AsString();
    const bool absolute = !path.empty() && path[0] == '/';
    request.op_libraries.push_back(absolute ? path : config.directory + "/" + path);
  }
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
