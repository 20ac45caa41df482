// `nereid tune`: finds the best instance count, batching and threads of a model, or of the models
// of an ensemble.
#ifndef NEREID_APPS_NEREID_TUNE_TUNE_COMMAND_H_
#define NEREID_APPS_NEREID_TUNE_TUNE_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kTuneUsage[] =
    "Usage: nereid tune MODEL --model-repository=DIR [options]\n"
    "\n"
    "Finds the number of instances, the preferred batch sizes, the queue delay and the threads\n"
    "with which a model serves best on this machine: measures how long executions take, judges\n"
    "many configurations in a simulation of the scheduler, and measures the best ones. If MODEL\n"
    "is an ensemble, the models of its steps are varied together. For that it starts private\n"
    "servers, one at a time, with copies of the models' folders; a running server is not\n"
    "touched. Prints the evidence and the change of config.pbtxt, and changes nothing without\n"
    "--apply. Ctrl-C ends early.\n"
    "\n"
    "  --model-repository=DIR   the folder with the model's folder\n"
    "  --objective=KIND         throughput (the largest), latency (the lowest p99) or memory (the\n"
    "                           least of the server): throughput\n"
    "  --p99-ms=MS              the 99th percentile of the latency has to be at most this\n"
    "  --memory-mb=MIB          the server's memory has to be at most this, in MiB\n"
    "  --min-throughput=N       at least N requests per second have to be answered\n"
    "  --concurrency=N          the load is a closed loop of N clients\n"
    "  --rate=R                 the load is R requests per second\n"
    "  --arrivals=KIND          how they fall due: constant, poisson, bursty or step: poisson\n"
    "  --recording=FILE         the load is that of a recording (nereid --record=FILE)\n"
    "  --max-concurrency=N      without a load, closed loops of 1 to N clients are tried: 64\n"
    "  --batch-size=N           of a request: 1\n"
    "  --max-instances=N        try up to N instances; default: twice the processors, at most 8\n"
    "  --max-batch-sizes=N,N    largest batches to try; default: today's alone. Requests with\n"
    "                           larger batches than that are refused\n"
    "  --threads=N,N            threads of an execution to try, where the backend has a parameter\n"
    "                           for them; default: today's, and 1, 2, 4, ... up to the processors\n"
    "  --same-backend           do not try other installed backends that read the model's file\n"
    "  --shape=NAME:DIM,DIM     shape of an input that may have any\n"
    "  --input=NAME:FILE        this input from a .npy file, or the bytes of its tensor\n"
    "  --seconds=S              length of a measurement: 2\n"
    "  --measure=N              measure the best N configurations, and today's: 5\n"
    "  --state=FILE             keep what was measured in this file, and go on with it\n"
    "  --html=FILE              write a page with a plot\n"
    "  --apply                  write config.pbtxt; the old one becomes config.pbtxt.before-tune\n"
    "  --load-model=NAME        another model of the repository that this one needs; may be\n"
    "                           repeated\n"
    "  --backend-directory=DIR, --backend-config=NAME,KEY=VALUE\n"
    "                           as options of the server\n"
    "\n"
    "Exit status: 0: a configuration was found; 1: the model cannot be tuned, or the end came\n"
    "early; 2: wrong options.\n";

// `args`: the arguments after "tune". Writes the result to `out`, errors and progress to `err`.
// Returns the exit status. Catches SIGINT and SIGTERM for as long as it runs.
int TuneCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TUNE_TUNE_COMMAND_H_
