// SPDX-License-Identifier: Apache-2.0
// Reads a command line by a table of options. An option is --name=value or --name value. Pure but
// for what the setters do.
#ifndef NEREID_APPS_NEREID_OPTIONS_PARSE_H_
#define NEREID_APPS_NEREID_OPTIONS_PARSE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "options/command_table.h"
#include "options/flag.h"

namespace nereid {

struct ParsedLine {
  std::set<std::string> names;         // of the options that were given
  std::vector<std::string> arguments;  // the words that belong to no option
};

// The server's grammar: an unambiguous beginning of a name is enough, every word after an option is
// its value, and the setters' errors get the option's name. INVALID_ARGUMENT names the option and,
// if it does not exist, the nearest one that does.
absl::StatusOr<ParsedLine> ParseServerLine(const std::vector<FlagGroup>& table,
                                           const std::vector<std::string>& args);

// An error of an option that the server has, as ParseServerLine reports it.
absl::Status BadOption(absl::string_view name, const absl::Status& status);

// The grammar of the other commands: names are whole, and what begins with "--" is a value only
// behind "=". INVALID_ARGUMENT with one sentence.
absl::Status ParseCommandArguments(const CommandTable& table, const std::vector<std::string>& args);

// Tells people that the command line is wrong: one sentence, and where help is. Returns the exit
// status of all commands for that.
int WrongCommandLine(absl::string_view command, const absl::Status& status, std::ostream& err);

// Whether `args` ask for help rather than for anything to be done.
bool AsksForHelp(const std::vector<std::string>& args);

// The one of `names` that `name` was probably meant to be: the first that begins with it, or the
// one that differs least; empty: none is near enough.
std::string NearestName(absl::Span<const std::string> names, absl::string_view name);
// "; did you mean PREFIXnearest?", or nothing.
std::string DidYouMean(absl::Span<const std::string> names, absl::string_view prefix,
                       absl::string_view name);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_PARSE_H_
