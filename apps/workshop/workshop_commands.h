// SPDX-License-Identifier: Apache-2.0
// The commands of the workshop, and the tables of all commands, of which documents are made. A new
// command is a row here and in apps/nereid/commands.cc, which knows its name and what it does.
#ifndef NEREID_APPS_WORKSHOP_WORKSHOP_COMMANDS_H_
#define NEREID_APPS_WORKSHOP_WORKSHOP_COMMANDS_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"

namespace nereid {

struct WorkshopCommand {
  const char* name;
  // The one description of its options; made anew with each call.
  CommandTable (*table)();
  // `args`: those after the name; `nereid`: the path of the program `nereid`, to whose installation
  // everything belongs. Returns the exit status. The process ends without running destructors of
  // static objects.
  int (*run)(const std::vector<std::string>& args, const std::string& nereid, std::ostream& out,
             std::ostream& err);
};

absl::Span<const WorkshopCommand> WorkshopCommands();

// Null if there is none of this name.
const WorkshopCommand* FindWorkshopCommand(absl::string_view name);

// Of the commands of both programs, in the order in which `nereid help` lists them.
std::vector<CommandTable> AllCommandTables();

// Runs the command that `words` begin with, or prints its help. `nereid`: as above. Returns the
// exit status.
int RunWorkshop(const std::string& nereid, const std::vector<std::string>& words, std::ostream& out,
                std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_WORKSHOP_COMMANDS_H_
