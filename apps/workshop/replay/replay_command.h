// SPDX-License-Identifier: Apache-2.0
// `nereid replay`: plays a recording back, in virtual time or against a server.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_REPLAY_COMMAND_H_
#define NEREID_APPS_WORKSHOP_REPLAY_REPLAY_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"

namespace nereid {

CommandTable ReplayTable();

// `args`: the arguments after "replay". Writes the result to `out`, what went wrong to `err`. Exit
// status: that of the table.
int ReplayCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_REPLAY_COMMAND_H_
