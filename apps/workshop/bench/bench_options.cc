// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_options.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>

#include "base/status_macros.h"
#include "bench/load_flags.h"
#include "options/command_flags.h"
#include "options/flag_kinds.h"
#include "options/parse.h"

namespace nereid::bench {
namespace {

constexpr double kMostRate = 1e6;
constexpr double kMostSeconds = 24 * 3600;
constexpr double kMostStringLength = 1 << 20;
constexpr double kMostOutputBytes = 1 << 30;
constexpr size_t kMostHeaderBytes = 8 << 10;

Flag InputDataFlag(InputOptions* to) {
  return {"input-data", "DATA", "random",
          "random, zeros, or a JSON file with requests in the form of perf_analyzer",
          [to](absl::string_view text) {
            to->data_file.clear();
            to->fill = text == "zeros" ? FillKind::kZeros : FillKind::kRandom;
            if (text != "zeros" && text != "random") to->data_file = std::string(text);
            return text.empty()
                       ? WrongValue("input-data", text, "random, zeros, or the name of a JSON file")
                       : absl::OkStatus();
          }};
}

Flag StabilityFlag(double* to) {
  Flag flag = NumberFlag("stability", "P", to, {0, 100, false},
                         "end a row when throughput and latency are known to P percent; 0: use all "
                         "of --seconds");
  flag.set = [set = std::move(flag.set)](absl::string_view text) {
    absl::ConsumeSuffix(&text, "%");
    return set(text);
  };
  return flag;
}

Flag JsonFlag(BenchOptions* o) {
  Flag flag = {"json", "FILE", "",
               "print JSON instead of text; with a file, write it there besides",
               [o](absl::string_view text) {
                 if (text.empty()) {
                   o->json = true;
                 } else {
                   o->json_file = std::string(text);
                 }
                 return absl::OkStatus();
               }};
  flag.value_optional = true;
  flag.repeated = true;
  return flag;
}

std::vector<Flag> FlagsOfRun(BenchOptions* o) {
  return {
      UrlFlag(&o->target, o->target.Url(),
              "http://HOST:PORT, or with https, grpc or grpcs; certificates are not verified"),
      ModelFlag(&o->model, &o->version, "the model, as MODEL"),
      HeaderFlag(&o->headers),
  };
}

std::vector<Flag> FlagsOfLoad(BenchOptions* o) {
  return {
      WithDefaultText("1",
                      ListFlag("concurrency", "N", &o->concurrency, {1, kMostConcurrency, true},
                               "requests in flight. Also a list, 1,2,4, or a range, 1:64:x2 "
                               "or 10:50:10: one row for each")),
      ListFlag("rate", "R", &o->rates, {1e-3, kMostRate, false},
               "requests per second, of an open loop; also a list or a range"),
      ArrivalsFlag(&o->arrivals, "how they fall due: constant, poisson, bursty or step"),
      FileFlag("trace-file", &o->trace_file, "they fall due at these seconds, one number a line"),
      WholeFlag("max-in-flight", &o->max_in_flight, 1, kMostConcurrency,
                "open loop: requests in flight at most"),
      WholeFlag("channels", &o->channels, 1, 1000, "gRPC: connections"),
      NumberFlag("seconds", "S", &o->seconds, {0.1, kMostSeconds, false},
                 "measure a row for at most S seconds"),
      NumberFlag("warm-up-seconds", "S", &o->warm_up_seconds, {0, kMostSeconds, false},
                 "load before that, without measuring"),
      StabilityFlag(&o->stability),
  };
}

std::vector<Flag> FlagsOfRequests(BenchOptions* o) {
  return {
      InputDataFlag(&o->inputs),
      InputFileFlag(&o->inputs.files),
      ShapeFlag(&o->inputs.shapes,
                "shape of an input, with or without the batch dimension; may be repeated"),
      WithDefaultText(
          "1", WholeFlag("batch-size", &o->inputs.batch_size, 1, 1 << 20, "rows of a request")),
      WholeFlag("string-length", &o->inputs.string_length, 0, kMostStringLength,
                "bytes of made-up strings"),
      WholeFlag("seed", &o->inputs.seed, 0, 1e15, "of random values and arrivals"),
      TurnOnFlag("json-tensors", &o->json_tensors, "HTTP: tensors as JSON instead of bytes"),
      TurnOnFlag("streaming", &o->streaming,
                 "gRPC: ModelStreamInfer, one stream for each request in flight; HTTP: "
                 "generate_stream"),
      WholeFlag("responses", &o->responses, 1, 1e6,
                "gRPC: a request on a stream has N responses; without it, the response that the "
                "server marks is the last one"),
      WholeFlag("sequences", &o->sequences, 1, kMostConcurrency,
                "N sequences at a time, each request after the answer to the one before"),
      WholeFlag("sequence-length", &o->sequence_length, 1, 1e6, "requests of a sequence"),
      KindFlag<bool>("shared-memory", &o->shared_memory, {{"none", false}, {"system", true}},
                     "none", "none, or system: tensors in shared memory, on this machine only"),
      NumberFlag("output-shared-memory-size", "BYTES", &o->output_bytes,
                 {1, kMostOutputBytes, true}, "space for an output of unknown size"),
  };
}

CommandTable TableFor(BenchOptions* o) {
  CommandTable table;
  table.name = "bench";
  table.summary = "measure how fast a running server answers";
  table.synopsis = "MODEL [options]";
  table.description = {
      "Loads a model of a running server with requests, and prints throughput and latencies. Works "
      "with every server of the protocol KServe v2. MODEL is NAME or NAME:VERSION.",
      "Without --rate and --trace-file it is a closed loop: each of --concurrency requests in "
      "flight is followed by another one as soon as it is answered. With them it is an open loop: "
      "requests fall due whatever the server does, and latencies count from then. Ctrl-C ends "
      "early, with what was measured so far."};
  for (std::vector<Flag>& flags :
       std::vector<std::vector<Flag>>{FlagsOfRun(o), FlagsOfLoad(o), FlagsOfRequests(o)}) {
    for (Flag& flag : flags) table.flags.push_back(std::move(flag));
  }
  table.flags.push_back(JsonFlag(o));
  table.flags.push_back(FileFlag("html", &o->html_file, "write a page with plots"));
  table.argument = {"MODEL", [o](absl::string_view text) {
                      return ParseModelOption(text, &o->model, &o->version);
                    }};
  table.exit_status =
      "0: measured; 1: no request was answered, or the server cannot be used; 2: wrong options.";
  return table;
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

CommandTable BenchTable() { return DescribedBy(&TableFor); }

absl::StatusOr<BenchOptions> ParseBenchOptions(const std::vector<std::string>& args) {
  BenchOptions options;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&options), args));
  if (options.model.empty()) {
    return absl::InvalidArgumentError(
        "the name of the MODEL is missing, as in nereid bench MODEL or --model=MODEL");
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
