// SPDX-License-Identifier: Apache-2.0
// The commands of the program: what `nereid NAME ...` does instead of serving. A new command is a
// row of the table; everything that tells of its options is made from its own table. The workshop
// runs the commands that a server does without, and prints the documents about all of them.
#ifndef NEREID_APPS_NEREID_COMMANDS_H_
#define NEREID_APPS_NEREID_COMMANDS_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"
#include "settings.h"

namespace nereid {

struct Command {
  const char* name;
  // Null: the workshop has the command (workshop.h). Otherwise the one description of its options;
  // made anew with each call.
  CommandTable (*table)();
  // `args`: those after the name; `settings`: a server's of this installation. Returns the exit
  // status. The process ends without running destructors of static objects.
  int (*run)(const std::vector<std::string>& args, Settings settings, std::ostream& out,
             std::ostream& err);
  const char* workshop_summary;  // that of its table, where the workshop has the command

  bool in_workshop() const { return table == nullptr; }
  std::string Summary() const { return in_workshop() ? workshop_summary : table().summary; }
};

// What the program does without a command may be asked for by this name, too.
inline constexpr char kServeCommand[] = "serve";

absl::Span<const Command> Commands();
// With kServeCommand.
std::vector<std::string> CommandNames();

// Null if there is none of this name.
const Command* FindCommand(absl::string_view name);

// Tells on behalf of the command `asker` that there is no command `name`. Returns the exit status.
int NoSuchCommand(absl::string_view asker, absl::string_view name, std::ostream& err);
// "; did you mean bench?", or nothing, for what may be meant as a command.
std::string MeantCommand(absl::string_view name);

// A line for each command: its name and what it does.
std::string CommandLines();
// The same behind the program's name, for --help-all.
std::string CommandsHelp(const std::string& program);
// The --help of one screen: what the program is, its commands, and the options that most need.
std::string ShortHelp();

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_COMMANDS_H_
