// SPDX-License-Identifier: Apache-2.0
// `nereid check DIR...`: reports whether model repositories could be served, without serving them.
#ifndef NEREID_APPS_NEREID_CHECK_H_
#define NEREID_APPS_NEREID_CHECK_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"
#include "settings.h"

namespace nereid {

CommandTable CheckTable();

// `args`: the arguments after "check"; `settings`: those of a server of this installation. Writes
// the report to `out`, and errors in the arguments to `err`. Exit status: 0: no problems; 1:
// problems; 2: the check could not be made.
int CheckCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                 std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CHECK_H_
