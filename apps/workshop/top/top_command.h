// SPDX-License-Identifier: Apache-2.0
// `nereid top`: shows what a running server does, model by model, and again every few seconds.
#ifndef NEREID_APPS_WORKSHOP_TOP_TOP_COMMAND_H_
#define NEREID_APPS_WORKSHOP_TOP_TOP_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

// What the standard output is.
struct TopOutput {
  bool terminal = false;
  bool colour = false;
};

// `args`: the arguments after "top". Writes tables to `out`, unless that is a terminal, and what
// went wrong to `err`. Exit status: that of top_request.h's table. Blocks until it is interrupted,
// unless --once is given. Threads may still run afterwards, which use nothing of the caller's.
int TopCommand(const std::vector<std::string>& args, TopOutput output, std::ostream& out,
               std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_TOP_COMMAND_H_
