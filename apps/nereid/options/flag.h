// SPDX-License-Identifier: Apache-2.0
// Flag: one option of a command line: its name, its value, what it means, and what happens to the
// value. The options of a command are a table of these (command_table.h), from which come parsing
// (parse.h), --help, manual pages and completions. Immutable after construction.
#ifndef NEREID_APPS_NEREID_OPTIONS_FLAG_H_
#define NEREID_APPS_NEREID_OPTIONS_FLAG_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <functional>
#include <string>
#include <vector>

namespace nereid {

// Takes the option's value; INVALID_ARGUMENT says what is wrong with it.
using FlagSetter = std::function<absl::Status(absl::string_view value)>;

// Made by a function of flag_kinds.h, command_flags.h or their like or, if none fits, with its own
// setter.
struct Flag {
  std::string name;      // without the dashes
  std::string argument;  // "<integer>", "N"; empty: the option takes none; see IsFile and IsFolder
  std::string default_text;
  std::string help;
  FlagSetter set;
  std::vector<std::string> choices = {};  // the only values, if these are few
  std::vector<std::string> aliases = {};  // names that are taken, too, and told to nobody
  bool value_optional = false;            // --name alone has a meaning, too; a value needs a "="
  bool repeated = false;                  // may be given several times
  bool usual = false;                     // one of those that most people need
};

// Arguments for which shells offer names of files and of folders.
inline constexpr char kFileArgument[] = "<file>";
inline constexpr char kFolderArgument[] = "<folder>";
inline bool IsFile(absl::string_view argument) {
  return argument == kFileArgument || argument == "FILE" || argument == "LIB";
}
inline bool IsFolder(absl::string_view argument) {
  return argument == kFolderArgument || argument == "DIR";
}

struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_FLAG_H_
