// Reading a command line against the flag table, and the texts made from the table.
#ifndef NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_
#define NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "flags/flag.h"
#include "settings.h"

namespace nereid {

// Applies `args` (without the program's name): --name=value or --name value; an unambiguous
// beginning of a name stands for it. Then checks what concerns several options.
// INVALID_ARGUMENT names the option and, for one that does not exist, the nearest that does.
absl::Status ParseCommandLine(const std::vector<std::string>& args, Settings* settings);

// What --help prints, and docs/operate/options.md.
std::string HelpText(const std::string& program);
std::string HelpMarkdown();

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_
