#include "backends/pytorch/parameters.h"

#include <algorithm>
#include <cctype>

namespace nereid_backend {
namespace {

constexpr int64_t kMostThreads = 4096;

// Parameters for a GPU or for the original's Python runtime.
constexpr const char* kWithoutEffect[] = {"CACHE_CLEANING_ENABLED",
                                          "DISABLE_CUDNN",
                                          "ENABLE_CACHE_CLEANING",
                                          "ENABLE_NVFUSER",
                                          "NUM_INTEROP_THREADS",
                                          "NUM_THREADS",
                                          "TORCH_COMPILE_OPTIONAL_PARAMETERS"};

// The original also accepts "on" and "off", in addition to the values that every backend accepts.
Result<std::optional<bool>> ReadBool(const ModelConfig& config, const char* key) {
  if (!config.HasParameter(key)) return std::optional<bool>();
  std::string value = config.Parameter(key);
  std::string lower = value;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "on") value = "true";
  if (lower == "off") value = "false";
  NB_ASSIGN_OR_RETURN(
      const bool read,
      ParseBool(StrCat("parameter '", key, "' of model '", config.name, "'"), value));
  return std::optional<bool>(read);
}

// As in the original, 0 and negative values mean "not given".
Result<int> ReadThreads(const ModelConfig& config, const char* key) {
  NB_ASSIGN_OR_RETURN(const int64_t count,
                      config.IntParameter(key, 0, -kMostThreads, kMostThreads));
  return static_cast<int>(std::max<int64_t>(count, 0));
}

}  // namespace

Result<Parameters> Parameters::FromConfig(const ModelConfig& config) {
  Parameters parameters;
  NB_ASSIGN_OR_RETURN(const std::optional<bool> inference, ReadBool(config, "INFERENCE_MODE"));
  parameters.inference_mode = inference.value_or(true);
  NB_ASSIGN_OR_RETURN(const std::optional<bool> disable,
                      ReadBool(config, "DISABLE_OPTIMIZED_EXECUTION"));
  parameters.optimized_execution = !disable.value_or(false);
  NB_ASSIGN_OR_RETURN(parameters.intra_op_threads, ReadThreads(config, "INTRA_OP_THREAD_COUNT"));
  NB_ASSIGN_OR_RETURN(parameters.inter_op_threads, ReadThreads(config, "INTER_OP_THREAD_COUNT"));
  NB_ASSIGN_OR_RETURN(parameters.share_module, ReadBool(config, "ENABLE_WEIGHT_SHARING"));
  NB_ASSIGN_OR_RETURN(parameters.jit_profiling, ReadBool(config, "ENABLE_JIT_PROFILING"));
  NB_ASSIGN_OR_RETURN(parameters.jit_executor, ReadBool(config, "ENABLE_JIT_EXECUTOR"));
  NB_ASSIGN_OR_RETURN(parameters.tensor_fuser, ReadBool(config, "ENABLE_TENSOR_FUSER"));
  for (const char* key : kWithoutEffect) {
    if (config.HasParameter(key)) parameters.without_effect.push_back(key);
  }
  return parameters;
}

}  // namespace nereid_backend
