// `nereid probe`: asks a running server whether it is live or ready, for health checks of
// containers that have no curl.
#ifndef NEREID_APPS_NEREID_PROBE_PROBE_COMMAND_H_
#define NEREID_APPS_NEREID_PROBE_PROBE_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "probe/probe_request.h"

namespace nereid {

inline constexpr char kProbeUsage[] =
    "Usage: nereid probe [options]\n"
    "\n"
    "Asks a running server whether it is ready to serve, and prints the answer as one sentence.\n"
    "\n"
    "  --ready                  is the server ready? (what is asked without an option)\n"
    "  --live                   is it live?\n"
    "  --model=NAME[:VERSION]   is this model ready?\n"
    "  --url=URL                http://HOST:PORT, or with https, grpc or grpcs; without it\n"
    "                           NEREID_PROBE_URL, and without that http://127.0.0.1:8000, or\n"
    "                           grpc://127.0.0.1:8001 if nothing listens there\n"
    "  --timeout-s=N            seconds for everything together: 5\n"
    "  --header=NAME:VALUE      send this header; may be repeated\n"
    "  --root-cert=FILE         trust only servers with a certificate of these authorities; "
    "without\n"
    "                           it every certificate will do\n"
    "  --client-cert=FILE, --client-key=FILE\n"
    "                           own certificate and key, for servers that ask for them\n"
    "\n"
    "Exit status: 0: yes; 1: no, or no answer; 2: wrong options.\n";

// `args`: the arguments after "probe"; `default_url`: the value of kProbeUrlVariable, or
// empty.
// Writes one sentence to `out`, errors in the arguments to `err`. Exit status: 0: live or ready; 1:
// not so, or no answer; 2: wrong arguments. After a time-out a thread may still run, which uses
// nothing of the caller's.
int ProbeCommand(const std::vector<std::string>& args, const std::string& default_url,
                 std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_PROBE_COMMAND_H_
