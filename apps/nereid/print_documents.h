// SPDX-License-Identifier: Apache-2.0
// `nereid completion SHELL` and `nereid man [COMMAND]`: texts about the program that are made from
// its tables of options and commands, when a package is built or by a user.
#ifndef NEREID_APPS_NEREID_PRINT_DOCUMENTS_H_
#define NEREID_APPS_NEREID_PRINT_DOCUMENTS_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"
#include "settings.h"

namespace nereid {

CommandTable CompletionTable();
CommandTable ManTable();

// For both: `args`: those after the command's name. Write the text to `out`, and errors in the
// arguments to `err`. Exit status: 0; 2: wrong arguments.
int CompletionCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                      std::ostream& err);
int ManCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
               std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PRINT_DOCUMENTS_H_
