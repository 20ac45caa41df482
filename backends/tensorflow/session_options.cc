// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/session_options.h"

#include <algorithm>

#include "backends/sdk/graph/accelerators.h"
#include "backends/sdk/log.h"
#include "backends/sdk/options.h"
#include "backends/tensorflow/options.h"

namespace nereid_backend {
namespace {

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

Error CheckAccelerators(const ModelConfig& config) {
  const Json& accelerators = config.json["optimization"]["execution_accelerators"];
  if (!accelerators["cpu_execution_accelerator"].items().empty()) {
    return Error::InvalidArg("CPU Execution Accelerator is not supported in TensorFlow backend");
  }
  return CheckGpuAccelerators(config, {"tensorrt", "gpu_io", "auto_mixed_precision"});
}

// optimization.graph.level, of which TensorFlow has -1 to 2.
int64_t ReadJitLevel(const ModelConfig& config) {
  const int64_t level = config.json["optimization"]["graph"]["level"].AsInt(0);
  const int64_t known = std::clamp<int64_t>(level, -1, 2);
  if (level != known) {
    NB_LOG_WARNING("model '", config.name, "': optimization.graph.level ", level,
                   " is unknown and taken as ", known, " (-1: off, 0: TensorFlow's default, 1, 2)");
  }
  return known;
}

}  // namespace

Result<SessionOptions> SessionOptions::FromConfig(const ModelConfig& config) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kTensorflowOptions, config));
  SessionOptions options;
  options.intra_op_threads = given.Integer("TF_NUM_INTRA_THREADS").value_or(0);
  options.inter_op_threads = given.Integer("TF_NUM_INTER_THREADS").value_or(0);
  const std::string tag = given.Text("TF_GRAPH_TAG").value_or("");
  if (!tag.empty()) options.graph_tag = tag;
  options.signature = given.Text("TF_SIGNATURE_DEF").value_or("");
  options.init_ops_file = given.Text("TF_INIT_OPS_FILE").value_or("");
  options.jit_level = ReadJitLevel(config);
  NB_RETURN_IF_ERROR(CheckAccelerators(config));
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
