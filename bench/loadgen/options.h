// SPDX-License-Identifier: Apache-2.0
// Options of nereid_loadgen. A plain value.
#ifndef NEREID_BENCH_LOADGEN_OPTIONS_H_
#define NEREID_BENCH_LOADGEN_OPTIONS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "apps/loadgen/arrivals.h"
#include "bench/loadgen/answer.h"

namespace nereid::bench {

struct Options {
  bool grpc = false;
  std::string address;         // a.b.c.d:port
  std::string path;            // HTTP: path of the request
  std::string body_file;       // HTTP: the body; gRPC: a serialized ModelInferRequest
  int64_t header_length = -1;  // HTTP: bytes of JSON before the binary part
  std::string expect_file;     // FP32 values of the one output
  AnswerForm expect_form = AnswerForm::kBinary;
  std::string answer_file;  // holds the tensors of the answers; empty: the answers do
  int concurrency = 1;      // slots: connections, or calls in flight
  bool tls = false;         // TLS, without verifying the server's certificate
  int channels = 1;         // gRPC: TCP connections
  int responses = 0;        // gRPC: responses per request on a stream; 0: unary calls
  int sequence_length = 0;  // requests per sequence, one sequence per slot; 0: none
  double rate = 0;          // requests per second; 0: closed loop
  Arrivals arrivals = Arrivals::kUniform;  // open loop: when requests fall due
  uint64_t seed = 1;                       // seed of the arrivals
  int64_t within_us = 0;                   // open loop: limit for an answer in time
  double seconds = 2;                      // measured time
  double warmup_seconds = 0.5;
  int repeat = 1;      // measurements, one after the other on the same connections
  int checks = 2;      // requests on each slot whose answers are compared
  int server_pid = 0;  // whose processor time to report; 0: none
};

// "--name=value" words. INVALID_ARGUMENT with a sentence about what is wrong or missing.
absl::StatusOr<Options> ParseOptions(int argc, const char* const* argv);

extern const char kUsage[];

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_OPTIONS_H_
