// `nereid explain`: asks a running server where the time of a request went, or why a model's
// batches are as they are, and says it in plain text.
#ifndef NEREID_APPS_NEREID_EXPLAIN_EXPLAIN_COMMAND_H_
#define NEREID_APPS_NEREID_EXPLAIN_EXPLAIN_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kExplainUsage[] =
    "Usage: nereid explain REQUEST_ID|MODEL [options]\n"
    "\n"
    "Asks a running server where the time of a request went, and in which batch and why; or how "
    "large\n"
    "a model's batches are, why they leave the queue, and where the time of its requests goes.\n"
    "The server must be started with --allow-nereid-api=true, or with a key for /v2/nereid.\n"
    "\n"
    "  --model=NAME[:VERSION]   the model, also if a request has an id of that name\n"
    "  --json                   print the records of the server as they are\n"
    "  --url=URL                http://HOST:PORT, or with https: http://127.0.0.1:8000\n"
    "  --timeout-s=N            seconds for everything together: 5\n"
    "  --header=NAME:VALUE      send this header; may be repeated\n"
    "  --root-cert=FILE         trust only servers with a certificate of these authorities; "
    "without\n"
    "                           it every certificate will do\n"
    "  --client-cert=FILE, --client-key=FILE\n"
    "                           own certificate and key, for servers that ask for them\n"
    "\n"
    "Exit status: 0: explained; 1: nothing is known of it, or no answer; 2: wrong options.\n";

// `args`: the arguments after "explain". `colour`: `out` is a terminal that shows colours. Writes
// the explanation to `out`, what went wrong to `err`. Exit status as above. After a time-out a
// thread may still run, which uses nothing of the caller's.
int ExplainCommand(const std::vector<std::string>& args, bool colour, std::ostream& out,
                   std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_EXPLAIN_EXPLAIN_COMMAND_H_
