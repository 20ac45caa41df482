// Reads a command line using the flag table, and writes the texts made from the table.
#ifndef NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_
#define NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "options/flag.h"
#include "settings.h"

namespace nereid {

// Applies `args` (without the program's name): --name=value or --name value; an unambiguous prefix
// of a name is enough. Then checks rules that involve several options. INVALID_ARGUMENT names the
// option and, if it does not exist, the nearest one that does.
absl::Status ParseCommandLine(const std::vector<std::string>& args, Settings* settings);

// The same for the options of ports alone (MakeFrontendTable), for a server that exists. Only ports
// that are asked for are allowed by `settings` afterwards.
absl::Status ParseFrontendOptions(const std::vector<std::string>& options, Settings* settings);

// Why the gRPC port answers no REST, so that it is no way around what the options say of HTTP: they
// put HTTP on another address, or give it other rules for TLS; empty if it does answer.
std::string WhyNoRestOnGrpcPort(const Settings& settings);

// The texts of --help and of docs/operate/options.md.
std::string HelpText(const std::string& program);
std::string HelpMarkdown();

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_COMMAND_LINE_H_
