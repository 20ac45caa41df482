// SPDX-License-Identifier: Apache-2.0
// `nereid completion SHELL` and `nereid man [COMMAND]`: texts about the program that are made from
// its tables of options and commands, when a package is built or by a user.
#ifndef NEREID_APPS_WORKSHOP_DOCUMENTS_PRINT_DOCUMENTS_H_
#define NEREID_APPS_WORKSHOP_DOCUMENTS_PRINT_DOCUMENTS_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"

namespace nereid {

CommandTable CompletionTable();
CommandTable ManTable();

// For both: `args`: those after the command's name. Write the text to `out`, and errors in the
// arguments to `err`. Exit status: 0; 2: wrong arguments.
int CompletionCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);
int ManCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

// The option with which `nereid` asks for the page docs/operate/options.md, and the page.
inline constexpr char kOptionsPage[] = "--help-markdown";
void PrintOptionsPage(std::ostream& out);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_DOCUMENTS_PRINT_DOCUMENTS_H_
