// `nereid replay`: plays a recording back, in virtual time or against a server.
#ifndef NEREID_APPS_NEREID_REPLAY_REPLAY_COMMAND_H_
#define NEREID_APPS_NEREID_REPLAY_REPLAY_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kReplayUsage[] =
    "Usage: nereid replay FILE --virtual|--url=URL [options]\n"
    "\n"
    "With --virtual, runs the requests of a recording (nereid --record=FILE) through the real\n"
    "scheduler in virtual time, with the recorded arrivals and execution times, and says how many\n"
    "of the recorded batches are reproduced, and where the first difference is. No server is\n"
    "needed, and no model is loaded. The response cache, the rate limiter and a model's own "
    "batching\n"
    "take no part; where they did in the recording, the answer says so.\n"
    "\n"
    "With --url, sends them to a running server at the recorded times, and compares the "
    "latencies.\n"
    "Inputs that were not recorded are made up, with the recorded batch sizes.\n"
    "\n"
    "  --virtual               in virtual time\n"
    "  --url=URL               http://HOST:PORT, or with https, grpc or grpcs; certificates are "
    "not\n"
    "                          verified\n"
    "  --model=NAME[:VERSION]  the model; default: the one with the most requests\n"
    "  --config=FILE           --virtual: a config.pbtxt to use instead of the recorded\n"
    "                          configuration\n"
    "  --batches               --virtual: print every simulated batch, a line each\n"
    "  --speed=X               --url: X times as fast as recorded: 1\n"
    "  --header=NAME:VALUE     --url: send this header; may be repeated\n"
    "  --shape=NAME:DIM,DIM    --url: shape of an input that may have any, without the batch\n"
    "                          dimension\n"
    "  --max-in-flight=N       --url: requests in flight at most: 256\n"
    "  --json                  print JSON\n"
    "\n"
    "Exit status: 0: replayed; 1: the recording cannot be replayed, or no request had a success;\n"
    "2: wrong options.\n";

// `args`: the arguments after "replay". Writes the result to `out`, what went wrong to `err`. Exit
// status as above.
int ReplayCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_REPLAY_REPLAY_COMMAND_H_
