// `nereid top`: shows what a running server does, model by model, and again every few seconds.
#ifndef NEREID_APPS_NEREID_TOP_TOP_COMMAND_H_
#define NEREID_APPS_NEREID_TOP_TOP_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kTopUsage[] =
    "Usage: nereid top [options]\n"
    "\n"
    "Shows what a running server does: for each model version its requests and failures per "
    "second,\n"
    "the length of its queue, the mean batch size, the share of the time that its instances work, "
    "how\n"
    "long requests wait and compute, and why batches leave the queue. In a terminal the screen is\n"
    "renewed until q or Ctrl-C; elsewhere a table is printed every few seconds.\n"
    "The server must be started with --allow-nereid-api=true, or with a key for /v2/nereid.\n"
    "\n"
    "  --interval=SECONDS       from one look to the next: 2\n"
    "  --once                   print one table, of one interval, and end\n"
    "  --json                   print the answers of the server as they are, one on a line\n"
    "  --model=NAME             only this model\n"
    "  --url=URL                http://HOST:PORT, or with https: http://127.0.0.1:8000\n"
    "  --timeout-s=N            how many seconds an answer may take: 5\n"
    "  --header=NAME:VALUE      send this header; may be repeated\n"
    "  --root-cert=FILE         trust only servers with a certificate of these authorities; "
    "without\n"
    "                           it every certificate will do\n"
    "  --client-cert=FILE, --client-key=FILE\n"
    "                           own certificate and key, for servers that ask for them\n"
    "\n"
    "Exit status: 0: shown; 1: the server does not answer, or not to you; 2: wrong options.\n";

// What the standard output is.
struct TopOutput {
  bool terminal = false;
  bool colour = false;
};

// `args`: the arguments after "top". Writes tables to `out`, unless that is a terminal, and what
// went wrong to `err`. Exit status as above. Blocks until it is interrupted, unless --once is
// given. Threads may still run afterwards, which use nothing of the caller's.
int TopCommand(const std::vector<std::string>& args, TopOutput output, std::ostream& out,
               std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TOP_TOP_COMMAND_H_
