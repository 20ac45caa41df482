#include "backends/tensorflow/session_options.h"

#include <algorithm>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

constexpr int64_t kMaxThreads = 4096;

// Fields of TensorFlow's config.proto.
constexpr uint32_t kIntraOpParallelismThreads = 2;
constexpr uint32_t kInterOpParallelismThreads = 5;
constexpr uint32_t kAllowSoftPlacement = 7;
constexpr uint32_t kGraphOptions = 10;
constexpr uint32_t kOptimizerOptions = 3;  // of GraphOptions
constexpr uint32_t kGlobalJitLevel = 5;    // of OptimizerOptions

void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Writes a varint field. As in any int32 field, a negative number takes ten bytes.
void PutInt(uint32_t field, int64_t value, std::string* out) {
  PutVarint(uint64_t{field} << 3, out);
  PutVarint(static_cast<uint64_t>(value), out);
}

void PutMessage(uint32_t field, const std::string& message, std::string* out) {
  PutVarint(uint64_t{field} << 3 | 2, out);
  PutVarint(message.size(), out);
  out->append(message);
}

Error ReadAccelerators(const ModelConfig& config) {
  static constexpr std::string_view kGpuNames[] = {"tensorrt", "gpu_io", "auto_mixed_precision"};
  const Json& accelerators = config.json["optimization"]["execution_accelerators"];
  if (!accelerators["cpu_execution_accelerator"].items().empty()) {
    return Error::InvalidArg("CPU Execution Accelerator is not supported in TensorFlow backend");
  }
  for (const Json& item : accelerators["gpu_execution_accelerator"].items()) {
    const std::string name = item["name"].AsString();
    if (std::find(std::begin(kGpuNames), std::end(kGpuNames), name) == std::end(kGpuNames)) {
      return Error::InvalidArg(StrCat("unknown Execution Accelerator '", name, "' is requested"));
    }
    NB_LOG_WARNING("model '", config.name, "': GPU execution accelerator '", name,
                   "' is ignored: this backend runs on CPU");
  }
  return Error();
}

}  // namespace

Result<SessionOptions> SessionOptions::FromConfig(const ModelConfig& config) {
  SessionOptions options;
  NB_ASSIGN_OR_RETURN(options.intra_op_threads,
                      config.IntParameter("TF_NUM_INTRA_THREADS", 0, 0, kMaxThreads));
  NB_ASSIGN_OR_RETURN(options.inter_op_threads,
                      config.IntParameter("TF_NUM_INTER_THREADS", 0, 0, kMaxThreads));
  NB_ASSIGN_OR_RETURN(const bool per_session,
                      config.BoolParameter("TF_USE_PER_SESSION_THREADS", false));
  if (per_session) {
    NB_LOG_INFO("model '", config.name,
                "': parameter 'TF_USE_PER_SESSION_THREADS' has no effect: each model has a process "
                "and threads of its own");
  }
  if (config.HasParameter("MAX_SESSION_SHARE_COUNT")) {
    NB_RETURN_IF_ERROR(config.IntParameter("MAX_SESSION_SHARE_COUNT", 1, 1, INT32_MAX).TakeError());
    NB_LOG_INFO("model '", config.name,
                "': parameter 'MAX_SESSION_SHARE_COUNT' has no effect: all instances share one "
                "session");
  }
  const std::string tag = config.Parameter("TF_GRAPH_TAG");
  if (!tag.empty()) options.graph_tag = tag;
  options.signature = config.Parameter("TF_SIGNATURE_DEF");
  options.init_ops_file = config.Parameter("TF_INIT_OPS_FILE");
  options.jit_level =
      std::clamp<int64_t>(config.json["optimization"]["graph"]["level"].AsInt(0), -1, 2);
  NB_RETURN_IF_ERROR(ReadAccelerators(config));
  return options;
}

std::string SessionOptions::ConfigProto(const BackendSettings& settings) const {
  std::string config;
  PutInt(kIntraOpParallelismThreads,
         intra_op_threads > 0 ? intra_op_threads : settings.budget.threads, &config);
  PutInt(kInterOpParallelismThreads, inter_op_threads > 0 ? inter_op_threads : -1, &config);
  PutInt(kAllowSoftPlacement, settings.soft_placement ? 1 : 0, &config);
  if (jit_level != 0) {
    std::string optimizer;
    PutInt(kGlobalJitLevel, jit_level, &optimizer);
    std::string graph;
    PutMessage(kOptimizerOptions, optimizer, &graph);
    PutMessage(kGraphOptions, graph, &config);
  }
  return config;
}

std::string SessionOptions::ThreadPlan(const CpuBudget& budget) const {
  const int64_t intra = intra_op_threads > 0 ? intra_op_threads : budget.threads;
  return StrCat("within an operator ", intra, "; operators ",
                inter_op_threads > 0 ? StrCat("in parallel on ", inter_op_threads)
                                     : std::string("one after the other"),
                " (", budget.Describe(), ")");
}

}  // namespace nereid_backend
