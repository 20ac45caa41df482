// Flag: one command line option: name, argument, meaning, and what happens to its value. Immutable
// after construction.
#ifndef NEREID_APPS_NEREID_FLAGS_FLAG_H_
#define NEREID_APPS_NEREID_FLAGS_FLAG_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <functional>
#include <string>
#include <vector>

namespace nereid {

// Takes the option's value; INVALID_ARGUMENT says what is wrong with it.
using FlagSetter = std::function<absl::Status(absl::string_view value)>;

// Made by a function of flag_kinds.h or, if none fits, with its own setter.
struct Flag {
  std::string name;      // without the dashes
  std::string argument;  // "<integer>"; empty: the option takes none; see kFileArgument
  std::string default_text;
  std::string help;
  FlagSetter set;
  std::vector<std::string> choices = {};  // the only values, if these are few
};

// Arguments for which shells offer names of files and of folders.
inline constexpr char kFileArgument[] = "<file>";
inline constexpr char kFolderArgument[] = "<folder>";

struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_FLAG_H_
