// `nereid bench`: loads a model of a running server, and says how fast it answers.
#ifndef NEREID_APPS_NEREID_BENCH_BENCH_COMMAND_H_
#define NEREID_APPS_NEREID_BENCH_BENCH_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kBenchUsage[] =
    "Usage: nereid bench --url=URL --model=NAME [options]\n"
    "\n"
    "Loads a model of a running server with requests, and prints throughput and latencies. Works "
    "with\n"
    "every server of the protocol KServe v2.\n"
    "\n"
    "Without --rate and --trace-file it is a closed loop: each of --concurrency requests in flight "
    "is\n"
    "followed by another one as soon as it is answered. With them it is an open loop: requests "
    "fall\n"
    "due whatever the server does, and latencies count from then. Ctrl-C ends early, with what "
    "was\n"
    "measured so far.\n"
    "\n"
    "  --url=URL                http://HOST:PORT, or with https, grpc or grpcs; certificates are "
    "not\n"
    "                           verified\n"
    "  --model=NAME[:VERSION]   the model\n"
    "  --header=NAME:VALUE      send this header; may be repeated\n"
    "  --concurrency=N          requests in flight: 1. Also a list, 1,2,4, or a range, 1:64:x2 or\n"
    "                           10:50:10: one row for each\n"
    "  --rate=R                 requests per second, of an open loop; also a list or a range\n"
    "  --arrivals=KIND          how they fall due: constant, poisson, bursty or step\n"
    "  --trace-file=FILE        they fall due at these seconds, one number a line\n"
    "  --max-in-flight=N        open loop: requests in flight at most: 256\n"
    "  --channels=N             gRPC: connections: 1\n"
    "  --seconds=S              measure a row for at most S seconds: 10\n"
    "  --warm-up-seconds=S      load before that, without measuring: 1\n"
    "  --stability=P            end a row when throughput and latency are known to P percent: 5; "
    "0:\n"
    "                           use all of --seconds\n"
    "  --input-data=DATA        random, zeros, or a JSON file with requests in the form of\n"
    "                           perf_analyzer\n"
    "  --input=NAME:FILE        this input from a .npy file, or the bytes of its tensor\n"
    "  --shape=NAME:DIM,DIM     shape of an input, with or without the batch dimension\n"
    "  --batch-size=N           1\n"
    "  --string-length=N        bytes of made-up strings: 16\n"
    "  --seed=N                 of random values and arrivals: 1\n"
    "  --json-tensors           HTTP: tensors as JSON instead of bytes\n"
    "  --streaming              gRPC: ModelStreamInfer, one stream for each request in flight; "
    "HTTP:\n"
    "                           generate_stream\n"
    "  --responses=N            gRPC: a request on a stream has N responses; without it, the "
    "response\n"
    "                           that the server marks is the last one\n"
    "  --sequences=N            N sequences at a time, each request after the answer to the one "
    "before\n"
    "  --sequence-length=N      requests of a sequence: 20\n"
    "  --shared-memory=KIND     none, or system: tensors in shared memory, on this machine only\n"
    "  --output-shared-memory-size=BYTES\n"
    "                           space for an output of unknown size: 102400\n"
    "  --json, --json=FILE      print JSON instead of text; write it to a file besides\n"
    "  --html=FILE              write a page with plots\n"
    "\n"
    "Exit status: 0: measured; 1: no row has a success, or the server cannot be used; 2: wrong "
    "options.\n";

// `args`: the arguments after "bench". Writes the result to `out`, errors and progress to `err`.
// Returns the exit status. Catches SIGINT and SIGTERM for as long as it runs.
int BenchCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_BENCH_BENCH_COMMAND_H_
