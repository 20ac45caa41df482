// SPDX-License-Identifier: Apache-2.0
// The usual kinds of options of commands. Such an option stores its value in `*to`, which outlives
// the table. What `*to` holds when the table is made is the default that --help shows; for numbers,
// 0 and less mean that there is none. Values that are wrong are refused with one sentence that says
// what would be right. Pure functions.
#ifndef NEREID_APPS_NEREID_OPTIONS_COMMAND_FLAGS_H_
#define NEREID_APPS_NEREID_OPTIONS_COMMAND_FLAGS_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "options/flag.h"
#include "options/value_list.h"

namespace nereid {

// "--NAME is 'TEXT'; it has to be RIGHT".
absl::Status WrongValue(absl::string_view name, absl::string_view text, absl::string_view right);

// Takes no value.
Flag TurnOnFlag(std::string name, bool* to, std::string help);
// Any text but the empty one.
Flag NameFlag(std::string name, std::string* to, std::string help);
Flag FileFlag(std::string name, std::string* to, std::string help);
Flag FolderFlag(std::string name, std::string* to, std::string help);
// A file config.pbtxt.
Flag ConfigFileFlag(std::string name, std::string* to, std::string help);
// May be repeated; `*to` gets every value, and PassedFlag "--NAME=VALUE", for another command line.
Flag NamesFlag(std::string name, std::vector<std::string>* to, std::string help);
Flag PassedFlag(std::string name, std::string argument, std::vector<std::string>* to,
                std::string help);

template <typename T>
Flag NumberFlag(const std::string& name, std::string argument, T* to, Bounds bounds,
                std::string help) {
  const auto set = [=](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(const double value, ParseNumber("--" + name, text, bounds));
    *to = static_cast<T>(value);
    return absl::OkStatus();
  };
  return {name, std::move(argument), *to > 0 ? absl::StrCat(*to) : "", std::move(help), set};
}

template <typename T>
Flag WholeFlag(const std::string& name, T* to, double least, double most, std::string help) {
  return NumberFlag(name, "N", to, {least, most, true}, std::move(help));
}

template <typename T>
Flag ListFlag(const std::string& name, std::string argument, std::vector<T>* to, Bounds bounds,
              std::string help) {
  const auto set = [=](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<double> values, ParseValueList("--" + name, text, bounds));
    to->assign(values.begin(), values.end());
    return absl::OkStatus();
  };
  return {name, std::move(argument), "", std::move(help), set};
}

// One of a few words, each for a value.
template <typename Value, typename Target>
Flag KindFlag(const std::string& name, Target* to,
              std::vector<std::pair<std::string, Value>> choices, std::string default_text,
              std::string help) {
  std::vector<std::string> words;
  std::string right;
  for (size_t i = 0; i < choices.size(); ++i) {
    words.push_back(choices[i].first);
    absl::StrAppend(&right, i == 0 ? "" : i + 1 < choices.size() ? ", " : " or ", words.back());
  }
  const auto set = [name, to, choices = std::move(choices), right](absl::string_view text) {
    for (const auto& [word, value] : choices) {
      if (word != text) continue;
      *to = value;
      return absl::OkStatus();
    }
    return WrongValue(name, text, right);
  };
  return {name, "KIND", std::move(default_text), std::move(help), set, std::move(words)};
}

// The words that are no options: one that goes to `*to`.
FlagSetter StoreIn(std::string* to);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_COMMAND_FLAGS_H_
