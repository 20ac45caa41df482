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

absl::Span<const Command> Commands();

// Null if there is none of this name.
const Command* FindCommand(absl::string_view name);

// Lines for --help.
std::string CommandsHelp(const std::string& program);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_COMMANDS_H_
