// SPDX-License-Identifier: Apache-2.0
// Texts about options that are made from the tables of commands. Pure functions.
#ifndef NEREID_APPS_NEREID_OPTIONS_HELP_TEXT_H_
#define NEREID_APPS_NEREID_OPTIONS_HELP_TEXT_H_

#include <absl/strings/string_view.h>

#include <string>
#include <vector>

#include "options/command_table.h"
#include "options/flag.h"

namespace nereid {

// "--port=<integer>", "--json[=FILE]", "--verbose"
std::string SpellingOf(const Flag& flag);

// `text` in lines of at most `width` characters, each after the first behind `indent` blanks.
// Without a line break at the end.
std::string Wrapped(absl::string_view text, size_t indent, size_t width);

// Without its full stop.
std::string FirstSentence(const std::string& help);

// Lines with the spelling of each option, and its help and default beside it.
std::string OptionLines(const std::vector<Flag>& flags);

// "Usage: nereid NAME ...", and everything else that the table says.
std::string CommandHelp(const CommandTable& table);

// Rows of a table in Markdown: option, default, meaning.
std::string MarkdownRows(const std::vector<Flag>& flags);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_HELP_TEXT_H_
