// Flag: one command line option: name, argument, meaning, and what it does with its value.
// Immutable once made. ValueTo...: setters for the usual types.
#ifndef NEREID_APPS_NEREID_FLAGS_FLAG_H_
#define NEREID_APPS_NEREID_FLAGS_FLAG_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid {

// Takes the option's value; INVALID_ARGUMENT says what is wrong with it.
using FlagSetter = std::function<absl::Status(absl::string_view value)>;

struct Flag {
  std::string name;      // without the dashes
  std::string argument;  // "<integer>"; empty: the option takes none
  std::string default_text;
  std::string help;
  FlagSetter set;
};

struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

// true/on/1, false/off/0, in any case.
absl::Status ParseBool(absl::string_view value, bool* out);
// A decimal number within [low, high].
absl::Status ParseInteger(absl::string_view value, int64_t low, int64_t high, int64_t* out);

FlagSetter SetBool(bool* target);
FlagSetter SetString(std::string* target);
// One of `choices`, in any case; stored in lower case. `error` is the text for anything else.
FlagSetter SetChoice(std::string* target, std::vector<std::string> choices, std::string error);

template <typename Integer>
FlagSetter SetInteger(Integer* target, int64_t low, int64_t high) {
  return [=](absl::string_view value) {
    int64_t number = 0;
    absl::Status status = ParseInteger(value, low, high, &number);
    if (status.ok()) *target = static_cast<Integer>(number);
    return status;
  };
}

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_FLAG_H_
