#include "bench/bench_options.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "base/status_macros.h"
#include "bench/option_table.h"

namespace nereid::bench {
namespace {

constexpr double kMostRate = 1e6;
constexpr double kMostSeconds = 24 * 3600;
constexpr double kMostStringLength = 1 << 20;
constexpr double kMostOutputBytes = 1 << 30;
constexpr size_t kMostHeaderBytes = 8 << 10;

Setter Fill(InputOptions* to) {
  return [=](absl::string_view text) {
    to->data_file.clear();
    to->fill = text == "zeros" ? FillKind::kZeros : FillKind::kRandom;
    if (text != "zeros" && text != "random") to->data_file = std::string(text);
    return text.empty() ? Wrong("--input-data", text, "random, zeros, or the name of a JSON file")
                        : absl::OkStatus();
  };
}

std::vector<Option> OptionsOfRequests(BenchOptions* o) {
  return {
      {"input-data", "VALUE", Fill(&o->inputs)},
      {"input", "VALUE", InputFile(&o->inputs.files)},
      {"shape", "VALUE", InputShape(&o->inputs.shapes)},
      {"batch-size", "VALUE", Whole("--batch-size", &o->inputs.batch_size, 1, 1 << 20)},
      {"string-length", "VALUE",
       Whole("--string-length", &o->inputs.string_length, 0, kMostStringLength)},
      {"seed", "VALUE", Whole("--seed", &o->inputs.seed, 0, 1e15)},
      {"json-tensors", "", Flag(&o->json_tensors)},
      {"streaming", "", Flag(&o->streaming)},
      {"responses", "VALUE", Whole("--responses", &o->responses, 1, 1e6)},
      {"sequences", "VALUE", Whole("--sequences", &o->sequences, 1, kMostConcurrency)},
      {"sequence-length", "VALUE", Whole("--sequence-length", &o->sequence_length, 1, 1e6)},
      {"shared-memory", "VALUE",
       [o](absl::string_view text) {
         o->shared_memory = text == "system";
         return text == "system" || text == "none"
                    ? absl::OkStatus()
                    : Wrong("--shared-memory", text, "system or none");
       }},
      {"output-shared-memory-size", "VALUE",
       Whole("--output-shared-memory-size", &o->output_bytes, 1, kMostOutputBytes)},
  };
}

std::vector<Option> OptionsOfLoad(BenchOptions* o) {
  return {
      {"concurrency", "VALUE", List("--concurrency", &o->concurrency, {1, kMostConcurrency, true})},
      {"rate", "VALUE", List("--rate", &o->rates, {1e-3, kMostRate, false})},
      {"arrivals", "VALUE", Arriving(&o->arrivals)},
      {"trace-file", "VALUE", File("--trace-file", &o->trace_file)},
      {"max-in-flight", "VALUE", Whole("--max-in-flight", &o->max_in_flight, 1, kMostConcurrency)},
      {"channels", "VALUE", Whole("--channels", &o->channels, 1, 1000)},
      {"seconds", "VALUE", Number("--seconds", &o->seconds, {0.1, kMostSeconds, false})},
      {"warm-up-seconds", "VALUE",
       Number("--warm-up-seconds", &o->warm_up_seconds, {0, kMostSeconds, false})},
      {"stability", "VALUE",
       [o](absl::string_view text) {
         absl::ConsumeSuffix(&text, "%");
         return Number("--stability", &o->stability, {0, 100, false})(text);
       }},
  };
}

std::vector<Option> OptionsOfRun(BenchOptions* o) {
  return {
      {"help", "", Flag(&o->help)},
      {"url", "VALUE", Url(&o->target)},
      {"model", "VALUE",
       [o](absl::string_view text) { return ParseModelOption(text, &o->model, &o->version); }},
      {"header", "VALUE", Header(&o->headers)},
      {"json", "[",
       [o](absl::string_view text) {
         if (text.empty()) {
           o->json = true;
         } else {
           o->json_file = std::string(text);
         }
         return absl::OkStatus();
       }},
      {"html", "VALUE", File("--html", &o->html_file)},
  };
}

absl::Status CheckLoad(const BenchOptions& o) {
  const int kinds =
      (o.concurrency.empty() ? 0 : 1) + (o.rates.empty() ? 0 : 1) + (o.trace_file.empty() ? 0 : 1);
  if (kinds > 1) {
    return absl::InvalidArgumentError(
        "--concurrency, --rate and --trace-file exclude each other: a load is a closed loop, an "
        "open loop, or a trace");
  }
  if (o.sequences > 0 && !o.concurrency.empty()) {
    return absl::InvalidArgumentError(
        "--sequences says how many requests are in flight, so that --concurrency has no meaning "
        "beside it");
  }
  return absl::OkStatus();
}

absl::Status CheckStreams(const BenchOptions& o) {
  if (o.responses > 0 && !o.streaming) {
    return absl::InvalidArgumentError("--responses has a meaning only with --streaming");
  }
  if (!o.streaming || o.grpc()) return absl::OkStatus();
  const char* const wrong = o.responses > 0   ? "--responses"
                            : o.sequences > 0 ? "--sequences"
                            : o.shared_memory ? "--shared-memory"
                                              : nullptr;
  if (wrong == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      wrong,
      " and --streaming need a --url with grpc or grpcs: generate_stream has no such thing"));
}

absl::Status CheckRequests(const BenchOptions& o) {
  RETURN_IF_ERROR(CheckStreams(o));
  if (o.json_tensors && o.grpc()) {
    return absl::InvalidArgumentError("--json-tensors needs a --url with http or https");
  }
  if (o.json_tensors && o.shared_memory) {
    return absl::InvalidArgumentError(
        "--json-tensors and --shared-memory exclude each other: tensors are in one place");
  }
  if (!o.inputs.data_file.empty() && o.sequences > 0) {
    return absl::InvalidArgumentError(
        "--input-data=FILE and --sequences exclude each other: all requests of a sequence have the "
        "same inputs");
  }
  size_t bytes = 0;
  for (const auto& [name, value] : o.headers) bytes += name.size() + value.size();
  if (bytes > kMostHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat("all --header together have ", bytes,
                                                   " bytes; the most is ", kMostHeaderBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BenchOptions> ParseBenchOptions(const std::vector<std::string>& args) {
  BenchOptions options;
  std::vector<Option> known = OptionsOfRun(&options);
  for (Option& option : OptionsOfLoad(&options)) known.push_back(std::move(option));
  for (Option& option : OptionsOfRequests(&options)) known.push_back(std::move(option));
  for (const std::string& arg : args) RETURN_IF_ERROR(SetOption(known, arg));
  if (options.help) return options;
  if (options.target.host.empty()) {
    return absl::InvalidArgumentError("--url is missing, as in --url=http://localhost:8000");
  }
  if (options.model.empty()) {
    return absl::InvalidArgumentError("--model is missing: the name of the model to load");
  }
  RETURN_IF_ERROR(CheckLoad(options));
  RETURN_IF_ERROR(CheckRequests(options));
  if (!options.rates.empty() || !options.trace_file.empty()) {
    if (options.sequences > 0) options.max_in_flight = options.sequences;
  } else if (options.concurrency.empty()) {
    options.concurrency = {std::max(options.sequences, 1)};
  }
  return options;
}

}  // namespace nereid::bench
