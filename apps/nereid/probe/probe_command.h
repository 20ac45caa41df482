// SPDX-License-Identifier: Apache-2.0
// `nereid probe`: asks a running server whether it is live or ready, for health checks of
// containers that have no curl.
#ifndef NEREID_APPS_NEREID_PROBE_PROBE_COMMAND_H_
#define NEREID_APPS_NEREID_PROBE_PROBE_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "probe/probe_request.h"

namespace nereid {

// `args`: the arguments after "probe"; `default_url`: the value of kProbeUrlVariable, or
// empty. Writes one sentence to `out`, errors in the arguments to `err`. Exit status: 0: live or
// ready; 1: not so, or no answer; 2: wrong arguments. After a time-out a thread may still run,
// which uses nothing of the caller's.
int ProbeCommand(const std::vector<std::string>& args, const std::string& default_url,
                 std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_PROBE_COMMAND_H_
