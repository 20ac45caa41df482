// SPDX-License-Identifier: Apache-2.0
// CommandTable: a command and its options, as one table. It is the only description of the command
// line: the parser, --help, the manual page, the completions and the page of options are made from
// it. Immutable after construction.
#ifndef NEREID_APPS_NEREID_OPTIONS_COMMAND_TABLE_H_
#define NEREID_APPS_NEREID_OPTIONS_COMMAND_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "options/flag.h"

namespace nereid {

// The words of a command line that are neither options nor their values.
struct CommandArgument {
  std::string name;  // "MODEL"; empty: there are none; see IsFile and IsFolder
  FlagSetter set;
  bool repeated = false;
  std::vector<std::string> choices = {};
};

struct CommandTable {
  std::string name;
  std::string summary;                   // begins with a verb, without a full stop
  std::string synopsis;                  // what follows the name: "MODEL [options]"
  std::vector<std::string> description;  // paragraphs
  std::vector<Flag> flags;               // without --help, which every command has
  CommandArgument argument;
  std::string exit_status;         // "0: ...; 1: ..."
  std::shared_ptr<void> values{};  // what the setters fill, if the table owns it
};

// The --help of every command; main answers it before it looks at anything else.
Flag HelpFlag();

// The table for those who want to read it. `table` makes it for options that it fills.
template <typename Options>
CommandTable DescribedBy(CommandTable (*table)(Options* options)) {
  auto values = std::make_shared<Options>();
  CommandTable described = table(values.get());
  described.values = std::move(values);
  return described;
}

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_COMMAND_TABLE_H_
