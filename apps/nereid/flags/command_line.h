// SPDX-License-Identifier: Apache-2.0
// Reads a command line using the flag table, and writes the texts made from the table.
#ifndef NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_
#define NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_

#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

#include "options/flag.h"
#include "settings.h"

namespace nereid {

// Takes a word of the command line that belongs to no option, when all options have been applied.
using WordTaker = std::function<absl::Status(const std::string& word, Settings* settings)>;

// Applies `args` (without the program's name): --name=value or --name value; an unambiguous prefix
// of a name is enough. Then checks rules that involve several options. INVALID_ARGUMENT names the
// option and, if it does not exist, the nearest one that does. Without `take_word`, other words are
// errors, too; otherwise its errors are returned as they are.
absl::Status ParseCommandLine(const std::vector<std::string>& args, Settings* settings,
                              const WordTaker& take_word = nullptr);

// The same for the options of ports alone (MakeFrontendTable), for a server that exists. Only ports
// that are asked for are allowed by `settings` afterwards.
absl::Status ParseFrontendOptions(const std::vector<std::string>& options, Settings* settings);

// Why the gRPC port answers no REST, so that it is no way around what the options say of HTTP: they
// put HTTP on another address, or give it other rules for TLS; empty if it does answer.
std::string WhyNoRestOnGrpcPort(const Settings& settings);

// The text of --help-all, and the server's part of docs/operate/options.md.
std::string HelpText(const std::string& program);
std::string HelpMarkdown();

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_
