// `nereid replay`: plays a recording back in virtual time.
#ifndef NEREID_APPS_NEREID_REPLAY_REPLAY_COMMAND_H_
#define NEREID_APPS_NEREID_REPLAY_REPLAY_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kReplayUsage[] =
    "Usage: nereid replay FILE --virtual [options]\n"
    "\n"
    "Runs the requests of a recording (nereid --record=FILE) through the real scheduler in\n"
    "virtual time, with the recorded arrivals and execution times, and says how many of the\n"
    "recorded batches are reproduced, and where the first difference is. No server is needed, and\n"
    "no model is loaded.\n"
    "\n"
    "  --virtual               in virtual time; needed, because there is no other way yet\n"
    "  --model=NAME[:VERSION]  the model; default: the one with the most requests\n"
    "  --config=FILE           a config.pbtxt to use instead of the recorded configuration\n"
    "  --batches               print every simulated batch, a line each\n"
    "  --json                  print JSON\n"
    "\n"
    "Exit status: 0: replayed; 1: the recording cannot be replayed; 2: wrong options.\n";

// `args`: the arguments after "replay". Writes the result to `out`, what went wrong to `err`. Exit
// status as above.
int ReplayCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_REPLAY_REPLAY_COMMAND_H_
