#include "backends/openvino/compile_request.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

constexpr int64_t kMaxThreads = 4096;
constexpr size_t kMaxFixedBatchSizes = 8;
constexpr int64_t kMaxSequenceStates = int64_t{1} << 32;

// A parameter: its name, and its value in small letters, as the original's backend reads it.
struct Parameter {
  const ModelConfig& config;
  std::string name;
  std::string text;   // as it stands in the configuration
  std::string value;  // in small letters

  Error Expected(std::string_view what) const {
    return Error::InvalidArg(
        StrCat("expected the parameter '", name, "' to be ", what, ", got ", value));
  }
};

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

Result<int64_t> Number(const Parameter& parameter, int64_t max) {
  if (!IsNumber(parameter.value)) return parameter.Expected("a non-negative number");
  return ParseInt(StrCat("parameter '", parameter.name, "' of model '", parameter.config.name, "'"),
                  parameter.value, 0, max);
}

template <auto Member>
Error SetThreads(const Parameter& parameter, CompileRequest* request) {
  NB_ASSIGN_OR_RETURN(request->*Member, Number(parameter, kMaxThreads));
  return Error();
}

Error CheckNumber(const Parameter& parameter, CompileRequest*) {
  const Result<int64_t> number = Number(parameter, kMaxThreads);
  return number.ok() ? Error() : parameter.Expected("a non-negative number");
}

Error SetSequenceStates(const Parameter& parameter, CompileRequest* request) {
  NB_ASSIGN_OR_RETURN(request->sequence_states, Number(parameter, kMaxSequenceStates));
  return request->sequence_states > 0 ? Error() : parameter.Expected("at least 1");
}

Error SetFixedBatchSizes(const Parameter& parameter, CompileRequest* request) {
  if (parameter.value == "auto") return Error();
  std::vector<int64_t> sizes;
  // The part that is still to be read; it ends with a comma.
  std::string rest = parameter.value == "none" ? "" : parameter.value + ",";
  while (!rest.empty()) {
    const std::string size = rest.substr(0, rest.find(','));
    rest.erase(0, size.size() + 1);
    if (!IsNumber(size) || sizes.size() == kMaxFixedBatchSizes) {
      return parameter.Expected(StrCat("AUTO, NONE, or up to ", kMaxFixedBatchSizes,
                                       " numbers with commas between them"));
    }
    NB_ASSIGN_OR_RETURN(
        const int64_t rows,
        ParseInt(StrCat("parameter '", parameter.name, "' of model '", parameter.config.name, "'"),
                 size, 1, std::numeric_limits<int32_t>::max()));
    sizes.push_back(rows);
  }
  request->fixed_batch_sizes = std::move(sizes);
  return Error();
}

Error SetStreams(const Parameter& parameter, CompileRequest* request) {
  if (parameter.value == "auto") {
    request->streams = ov::streams::AUTO;
  } else if (parameter.value == "numa") {
    request->streams = ov::streams::NUMA;
  } else if (!IsNumber(parameter.value) || parameter.value == "0") {
    return parameter.Expected("either AUTO/NUMA/<int_value>");
  } else {
    NB_ASSIGN_OR_RETURN(const int64_t count, Number(parameter, kMaxThreads));
    request->streams = ov::streams::Num(static_cast<int32_t>(count));
  }
  return Error();
}

Error SetPerformance(const Parameter& parameter, CompileRequest* request) {
  if (parameter.value == "latency") {
    request->performance = ov::hint::PerformanceMode::LATENCY;
  } else if (parameter.value == "throughput" || parameter.value == "cumulative_throughput") {
    // CUMULATIVE_THROUGHPUT is meant for several devices; this backend has only one.
    request->performance = ov::hint::PerformanceMode::THROUGHPUT;
  } else {
    return parameter.Expected("LATENCY/THROUGHPUT/CUMULATIVE_THROUGHPUT");
  }
  return Error();
}

Error ChoosePrecision(const Parameter& parameter, ov::element::Type type, CompileRequest* request) {
  if (request->precision.has_value() && *request->precision != type) {
    return Error::InvalidArg(StrCat("model '", parameter.config.name, "': parameter '",
                                    parameter.name, "' asks for ", type.get_type_name(),
                                    ", another one for ", request->precision->get_type_name()));
  }
  request->precision = type;
  return Error();
}

Error SetPrecision(const Parameter& parameter, CompileRequest* request) {
  for (const ov::element::Type& type : {ov::element::f32, ov::element::bf16, ov::element::f16}) {
    if (parameter.value == type.get_type_name()) return ChoosePrecision(parameter, type, request);
  }
  return parameter.Expected("f32/bf16/f16");
}

Error SetBf16(const Parameter& parameter, CompileRequest* request) {
  if (parameter.value != "yes") return parameter.Expected("YES");
  return ChoosePrecision(parameter, ov::element::bf16, request);
}

Error EnforceBf16(const Parameter& parameter, CompileRequest* request) {
  if (parameter.value == "yes") return ChoosePrecision(parameter, ov::element::bf16, request);
  if (parameter.value == "no") return ChoosePrecision(parameter, ov::element::f32, request);
  return parameter.Expected("either YES or NO");
}

Error SetReshape(const Parameter& parameter, CompileRequest* request) {
  request->reshape = parameter.value == "yes";
  return Error();
}

Error SetLate(const Parameter& parameter, CompileRequest* request) {
  NB_ASSIGN_OR_RETURN(
      request->terminate_late_runs,
      ParseBool(StrCat("parameter '", parameter.name, "' of model '", parameter.config.name, "'"),
                parameter.value));
  return Error();
}

template <auto Member>
Error SetText(const Parameter& parameter, CompileRequest* request) {
  request->*Member = parameter.text;
  return Error();
}

Error CheckDevice(const Parameter& parameter, CompileRequest*) {
  if (parameter.value == "cpu" || parameter.value == "auto") return Error();
  return Error::InvalidArg(StrCat("unable to load model '", parameter.config.name,
                                  "': parameter 'TARGET_DEVICE' is '", parameter.text,
                                  "', and this backend has CPU alone; AUTO means that too"));
}

using Apply = Error (*)(const Parameter& parameter, CompileRequest* request);
struct Option {
  std::string_view name;
  Apply apply;                   // null: it has no effect
  std::string_view remark = "";  // for the log
};
constexpr std::string_view kNoFixedBatch = "has no effect: batches of every size run as they are";
// Names and values of the original's backend; then Nereid's own; then those without effect here;
// then old names of the original's first versions.
constexpr Option kOptions[] = {
    {"INFERENCE_NUM_THREADS", &SetThreads<&CompileRequest::inference_threads>},
    {"COMPILATION_NUM_THREADS", &CheckNumber,
     "has no effect: OpenVINO's CPU plugin has no such setting"},
    {"HINT_BF16", &SetBf16},
    {"NUM_STREAMS", &SetStreams},
    {"PERFORMANCE_HINT", &SetPerformance},
    {"RESHAPE_IO_LAYERS", &SetReshape},
    {"CPU_EXTENSION_PATH", &SetText<&CompileRequest::extension>},
    {"TARGET_DEVICE", &CheckDevice},

    {"INFERENCE_PRECISION_HINT", &SetPrecision},
    {"FIXED_BATCH_SIZES", &SetFixedBatchSizes},
    {"CACHE_DIR", &SetText<&CompileRequest::cache_dir>},
    {"MAX_SEQUENCE_STATES", &SetSequenceStates},
    {"terminate_late_runs", &SetLate},

    {"SKIP_OV_DYNAMIC_BATCHSIZE", nullptr, kNoFixedBatch},
    {"ENABLE_BATCH_PADDING", nullptr, kNoFixedBatch},

    {"CPU_THREADS_NUM", &SetThreads<&CompileRequest::inference_threads>,
     "is the old name of INFERENCE_NUM_THREADS"},
    {"CPU_THROUGHPUT_STREAMS", &SetStreams, "is the old name of NUM_STREAMS"},
    {"ENFORCE_BF16", &EnforceBf16, "is the old form of INFERENCE_PRECISION_HINT (bf16, f32)"},
    {"CPU_BIND_THREAD", nullptr, "has no effect: host policies say where an instance runs"},
    {"SKIP_DYNAMIC_BATCHSIZE", nullptr, kNoFixedBatch},
};

Parameter ReadParameter(const ModelConfig& config, const std::string& name, const Json& json) {
  Parameter parameter{config, name, json["string_value"].AsString(), ""};
  parameter.value = parameter.text;
  for (char& c : parameter.value) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return parameter;
}

}  // namespace

Result<CompileRequest> CompileRequest::FromConfig(const ModelConfig& config) {
  CompileRequest request;
  for (const auto& [name, json] : config.json["parameters"].members()) {
    const auto option =
        std::find_if(std::begin(kOptions), std::end(kOptions),
                     [&, &key = name](const Option& candidate) { return candidate.name == key; });
    if (option == std::end(kOptions)) continue;  // a parameter for other software
    const Parameter parameter = ReadParameter(config, name, json);
    if (option->apply != nullptr) NB_RETURN_IF_ERROR(option->apply(parameter, &request));
    if (option->remark.empty()) {
      NB_LOG_INFO("Configuring ", name, " to ", parameter.text);
    } else {
      NB_LOG_INFO("model '", config.name, "': parameter '", name, "' ", option->remark);
    }
  }
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
