// SPDX-License-Identifier: Apache-2.0
// The commands of the program: what `nereid NAME ...` does instead of serving. A new command is a
// row of the table; everything that tells of its options is made from that.
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
  // The one description of its options; made anew with each call.
  CommandTable (*table)();
  // `args`: those after the name; `settings`: a server's of this installation. Returns the exit
  // status. The process ends without running destructors of static objects.
  int (*run)(const std::vector<std::string>& args, Settings settings, std::ostream& out,
             std::ostream& err);
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
// The part of docs/operate/options.md about commands.
std::string CommandsMarkdown();

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_COMMANDS_H_
