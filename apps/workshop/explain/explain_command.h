// SPDX-License-Identifier: Apache-2.0
// `nereid explain`: asks a running server where the time of a request went, or why a model's
// batches are as they are, and says it in plain text.
#ifndef NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_COMMAND_H_
#define NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

// `args`: the arguments after "explain". `colour`: `out` is a terminal that shows colours. Writes
// the explanation to `out`, what went wrong to `err`. Exit status: that of explain_request.h's
// table. After a time-out a thread may still run, which uses nothing of the caller's.
int ExplainCommand(const std::vector<std::string>& args, bool colour, std::ostream& out,
                   std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_COMMAND_H_
