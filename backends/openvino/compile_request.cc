// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/compile_request.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "backends/openvino/options.h"
#include "backends/sdk/options.h"

namespace nereid_backend {
namespace {

constexpr size_t kMaxFixedBatchSizes = 8;

// "auto", "none", or rows with commas between them. `lower`: in small letters.
Error SetFixedBatchSizes(const std::string& lower, CompileRequest* request) {
  if (lower == "auto") return Error();
  const auto refuse = [&] {
    return Error::InvalidArg(
        StrCat("expected the parameter 'FIXED_BATCH_SIZES' to be AUTO, NONE, or "
               "up to ",
               kMaxFixedBatchSizes, " numbers with commas between them, got ", lower));
  };
  std::vector<int64_t> sizes;
  // The part that is still to be read; it ends with a comma.
  std::string rest = lower == "none" ? "" : lower + ",";
  while (!rest.empty()) {
    const std::string size = rest.substr(0, rest.find(','));
    rest.erase(0, size.size() + 1);
    const Result<int64_t> rows = ParseInt("", size, 1, std::numeric_limits<int32_t>::max());
    if (!rows.ok() || sizes.size() == kMaxFixedBatchSizes) return refuse();
    sizes.push_back(*rows);
  }
  request->fixed_batch_sizes = std::move(sizes);
  return Error();
}

void SetStreams(const OptionValues& given, CompileRequest* request) {
  if (const auto count = given.Integer("NUM_STREAMS"); count.has_value()) {
    request->streams = ov::streams::Num(static_cast<int32_t>(*count));
  } else if (const auto word = given.Text("NUM_STREAMS"); word.has_value()) {
    request->streams = *word == "auto" ? ov::streams::AUTO : ov::streams::NUMA;
  }
}

// Three parameters set the precision. INVALID_ARG if two of them differ.
Error SetPrecision(const ModelConfig& config, const OptionValues& given, CompileRequest* request) {
  const auto choose = [&](const char* name, const ov::element::Type& type) -> Error {
    if (request->precision.has_value() && *request->precision != type) {
      return Error::InvalidArg(StrCat("model '", config.name, "': parameter '", name, "' asks for ",
                                      type.get_type_name(), ", another one for ",
                                      request->precision->get_type_name()));
    }
    request->precision = type;
    return Error();
  };
  if (given.Has("HINT_BF16")) NB_RETURN_IF_ERROR(choose("HINT_BF16", ov::element::bf16));
  if (const auto enforce = given.Text("ENFORCE_BF16"); enforce.has_value()) {
    NB_RETURN_IF_ERROR(
        choose("ENFORCE_BF16", *enforce == "yes" ? ov::element::bf16 : ov::element::f32));
  }
  const auto hint = given.Text("INFERENCE_PRECISION_HINT");
  for (const ov::element::Type& type : {ov::element::f32, ov::element::bf16, ov::element::f16}) {
    if (hint == type.get_type_name()) {
      NB_RETURN_IF_ERROR(choose("INFERENCE_PRECISION_HINT", type));
    }
  }
  return Error();
}

}  // namespace

Result<CompileRequest> CompileRequest::FromConfig(const ModelConfig& config) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kOpenvinoOptions, config));
  CompileRequest request;
  request.inference_threads = given.Integer("INFERENCE_NUM_THREADS").value_or(0);
  SetStreams(given, &request);
  if (const auto hint = given.Text("PERFORMANCE_HINT"); hint.has_value()) {
    // CUMULATIVE_THROUGHPUT is meant for several devices; this backend has only one.
    request.performance = *hint == "latency" ? ov::hint::PerformanceMode::LATENCY
                                             : ov::hint::PerformanceMode::THROUGHPUT;
  }
  NB_RETURN_IF_ERROR(SetPrecision(config, given, &request));
  request.reshape = given.Bool("RESHAPE_IO_LAYERS").value_or(false);
  if (auto sizes = given.Text("FIXED_BATCH_SIZES"); sizes.has_value()) {
    std::transform(sizes->begin(), sizes->end(), sizes->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    NB_RETURN_IF_ERROR(SetFixedBatchSizes(*sizes, &request));
  }
  request.extension = given.Text("CPU_EXTENSION_PATH").value_or("");
  request.cache_dir = given.Text("CACHE_DIR").value_or("");
  request.terminate_late_runs = given.Bool("terminate_late_runs").value_or(false);
  request.sequence_states = given.Integer("MAX_SEQUENCE_STATES").value_or(request.sequence_states);
  return request;
}

ov::AnyMap CompileRequest::Build(const Environment& environment) const {
  ov::AnyMap properties;
  properties.insert(ov::inference_num_threads(inference_threads > 0
                                                  ? static_cast<int32_t>(inference_threads)
                                                  : environment.budget().threads));
  // With pinning, the threads of several models would be bound to the same processors. The server's
  // host policies decide where the threads of an instance run.
  properties.insert(ov::hint::enable_cpu_pinning(false));
  if (streams.has_value()) properties.insert(ov::num_streams(*streams));
  if (performance.has_value()) properties.insert(ov::hint::performance_mode(*performance));
  if (precision.has_value()) properties.insert(ov::hint::inference_precision(*precision));
  const std::string& cache = cache_dir.empty() ? environment.settings().cache_dir : cache_dir;
  if (!cache.empty()) properties.insert(ov::cache_dir(cache));
  return properties;
}

}  // namespace nereid_backend
