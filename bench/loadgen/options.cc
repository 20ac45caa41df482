// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/options.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <functional>
#include <map>
#include <optional>

#include "base/status_macros.h"

namespace nereid::bench {

const char kUsage[] =
    R"(Usage: nereid_loadgen --protocol=http|grpc --address=IPV4:PORT --body=FILE --expect=FILE ...
  --protocol=http|grpc
  --address=IPV4:PORT
  --tls=0|1             TLS; the server's certificate is not verified (0)
  --path=PATH           HTTP: path of the request
  --body=FILE           HTTP: its body; gRPC: a serialized ModelInferRequest
  --header-length=N     HTTP: bytes of JSON in front of binary tensors (default: all is JSON)
  --expect=FILE         the right answer: little-endian FP32 values
  --expect-form=binary|json
  --answer-file=FILE    where the server writes the tensors of its answers: shared memory
  --concurrency=N       requests in flight at most (1)
  --channels=N          gRPC: TCP connections (1)
  --responses=N         gRPC: ModelStreamInfer, one stream a slot, N responses a request; 0: ModelInfer (0)
  --sequence-length=N   a sequence on each slot, begun anew after N requests; 0: no sequences (0)
  --rate=R              open loop: so many requests a second; 0: closed loop (0)
  --arrivals=uniform|poisson|bursty|step   open loop: when requests fall due (uniform)
  --seed=N              of the arrivals (1)
  --within-us=T         open loop: report how many answers came within T
  --seconds=S           that are measured (2)
  --warmup=S            that are not (0.5)
  --repeat=N            measurements one after the other (1)
  --checks=N            answers compared on each connection before (2)
  --server-pid=PID      report this process's CPU too
Prints one JSON object a line, one for each measurement. Exit code 1: a wrong answer, or no run at all.
)";

namespace {

using Setter = std::function<bool(const std::string&)>;

std::map<std::string, Setter> Setters(Options* o) {
  const auto text = [](std::string* to) {
    return [to](const std::string& value) { return !(*to = value).empty(); };
  };
  const auto integer = [](auto* to, int64_t low) {
    return [to, low](const std::string& value) {
      return absl::SimpleAtoi(value, to) && static_cast<int64_t>(*to) >= low;
    };
  };
  const auto number = [](double* to) {
    return [to](const std::string& value) { return absl::SimpleAtod(value, to) && *to >= 0; };
  };
  return {
      {"protocol",
       [o](const std::string& value) {
         o->grpc = value == "grpc";
         return value == "grpc" || value == "http";
       }},
      {"address", text(&o->address)},
      {"tls",
       [o](const std::string& value) {
         o->tls = value == "1";
         return value == "0" || value == "1";
       }},
      {"path", text(&o->path)},
      {"body", text(&o->body_file)},
      {"header-length", integer(&o->header_length, 0)},
      {"expect", text(&o->expect_file)},
      {"answer-file", text(&o->answer_file)},
      {"expect-form",
       [o](const std::string& value) {
         o->expect_form = value == "json" ? AnswerForm::kJson : AnswerForm::kBinary;
         return value == "json" || value == "binary";
       }},
      {"concurrency", integer(&o->concurrency, 1)},
      {"channels", integer(&o->channels, 1)},
      {"responses", integer(&o->responses, 0)},
      {"sequence-length", integer(&o->sequence_length, 0)},
      {"rate", number(&o->rate)},
      {"arrivals",
       [o](const std::string& value) {
         const std::optional<Arrivals> arrivals = ParseArrivals(value);
         o->arrivals = arrivals.value_or(Arrivals::kUniform);
         return arrivals.has_value();
       }},
      {"seed", integer(&o->seed, 0)},
      {"within-us", integer(&o->within_us, 0)},
      {"seconds", number(&o->seconds)},
      {"warmup", number(&o->warmup_seconds)},
      {"repeat", integer(&o->repeat, 1)},
      {"checks", integer(&o->checks, 1)},
      {"server-pid", integer(&o->server_pid, 1)},
  };
}

absl::Status CheckComplete(const Options& options) {
  if (options.address.empty()) return absl::InvalidArgumentError("--address is missing");
  if (options.body_file.empty()) return absl::InvalidArgumentError("--body is missing");
  if (options.expect_file.empty()) return absl::InvalidArgumentError("--expect is missing");
  if (!options.grpc && options.path.empty()) {
    return absl::InvalidArgumentError("--path is missing");
  }
  if (!options.grpc && options.responses > 0) {
    return absl::InvalidArgumentError("--responses is for gRPC");
  }
  if (options.sequence_length == 1) {
    return absl::InvalidArgumentError("--sequence-length must be 2 or more, or 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(int argc, const char* const* argv) {
  Options options;
  const std::map<std::string, Setter> setters = Setters(&options);
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    const size_t equals = word.find('=');
    if (!absl::ConsumePrefix(&word, "--") || equals == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("no --name=value: ", argv[i]));
    }
    const auto setter = setters.find(std::string(word.substr(0, equals - 2)));
    if (setter == setters.end()) {
      return absl::InvalidArgumentError(absl::StrCat("unknown option: ", argv[i]));
    }
    if (!setter->second(std::string(word.substr(equals - 1)))) {
      return absl::InvalidArgumentError(absl::StrCat("a wrong value: ", argv[i]));
    }
  }
  RETURN_IF_ERROR(CheckComplete(options));
  return options;
}

}  // namespace nereid::bench
