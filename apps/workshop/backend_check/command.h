// SPDX-License-Identifier: Apache-2.0
// `nereid backend-check LIB`: exercises a backend, each trial in a process of its own.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_COMMAND_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"

namespace nereid {

CommandTable BackendCheckTable();

// `args`: the arguments after "backend-check"; `nereid`: the program in whose installation it runs.
// Writes the report to `out`, and errors in the arguments to `err`. Exit status: 0: no findings; 1:
// findings; 2: the check could not be made.
int BackendCheckCommand(const std::vector<std::string>& args, const std::string& nereid,
                        std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_COMMAND_H_
