// SPDX-License-Identifier: Apache-2.0
// The usual kinds of options: each function makes a row of the table. Such an option stores its
// value in `*target`. The value of `*target` when the table is made is the default shown by --help,
// so a default is defined only at its target.
#ifndef NEREID_APPS_NEREID_OPTIONS_FLAG_KINDS_H_
#define NEREID_APPS_NEREID_OPTIONS_FLAG_KINDS_H_

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "options/flag.h"
#include "options/flag_values.h"

namespace nereid {

// Takes no value.
Flag SwitchFlag(std::string name, std::function<void()> turn_on, std::string help);
Flag BooleanFlag(std::string name, bool* target, std::string help);
Flag StringFlag(std::string name, std::string* target, std::string help);
// `error` is the text for an empty value.
Flag NonEmptyFlag(std::string name, std::string* target, std::string error, std::string help);
// May be given several times.
Flag StringSetFlag(std::string name, std::set<std::string>* target, std::string help);

struct IntegerRange {
  int64_t low;
  int64_t high;
  const char* error = nullptr;  // replaces the usual text for a number out of range
};

// Stores an option's value, a number in `range`, in `*target`: an Integer, or an optional one.
template <typename Integer, typename Target>
auto SetInteger(Target* target, IntegerRange range) {
  return [target, range](absl::string_view value) {
    constexpr int64_t kMost = sizeof(Integer) > sizeof(int32_t) ? kMaxInt64 : kMaxInt;
    const bool own_error = range.error != nullptr;
    int64_t number = 0;
    const absl::Status status = ParseInteger(value, own_error ? -kMost : range.low,
                                             own_error ? kMost : range.high, &number);
    if (!status.ok()) return status;
    if (number < range.low || number > range.high) return absl::InvalidArgumentError(range.error);
    *target = static_cast<Integer>(number);
    return absl::OkStatus();
  };
}

template <typename Integer>
Flag IntegerFlag(std::string name, Integer* target, IntegerRange range, std::string help) {
  return {std::move(name), "<integer>", absl::StrCat(*target), std::move(help),
          SetInteger<Integer>(target, range)};
}

// `*target` has no value unless the option is given. WithDefaultText says what holds then.
template <typename Integer>
Flag IntegerFlag(std::string name, std::optional<Integer>* target, IntegerRange range,
                 std::string help) {
  return {std::move(name), "<integer>", "", std::move(help), SetInteger<Integer>(target, range)};
}

// A port to listen on. One that cannot be goes into `(*errors)[name]`, because it matters only if
// the service is on; a later one that can be takes it out.
Flag PortFlag(std::string name, uint16_t* target, std::map<std::string, absl::Status>* errors);

// Whole seconds.
Flag SecondsFlag(std::string name, Duration* target, IntegerRange range, std::string help);

enum class LetterCase { kMatters, kDoesNotMatter };

template <typename Value>
Flag ChoiceFlag(std::string name, Value* target, std::vector<std::pair<std::string, Value>> choices,
                LetterCase letter_case, std::string help) {
  std::string default_text;
  std::string use;
  std::vector<std::string> texts;
  for (size_t i = 0; i < choices.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 < choices.size() ? ", " : " or ";
    absl::StrAppend(&use, before, choices[i].first);
    if (choices[i].second == *target) default_text = choices[i].first;
    texts.push_back(choices[i].first);
  }
  const auto set = [name, target, letter_case, use,
                    choices = std::move(choices)](absl::string_view value) {
    const std::string key = letter_case == LetterCase::kDoesNotMatter ? absl::AsciiStrToLower(value)
                                                                      : std::string(value);
    for (const auto& [text, choice] : choices) {
      if (text != key) continue;
      *target = choice;
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("invalid argument for --", name, ": '", value, "' (use ", use, ")"));
  };
  return {name, "<string>", std::move(default_text), std::move(help), set, std::move(texts)};
}

// ---- Changes to a row.

// Its value is the name of a file, or of a folder.
Flag OfFile(Flag flag);
Flag OfFolder(Flag flag);

// May be given several times.
Flag Repeated(Flag flag);
// Is shown by the short --help.
Flag Usual(Flag flag);
// Describes a default that is not a fixed value.
Flag WithDefaultText(std::string text, Flag flag);
// Uses this text for every refusal of a value.
Flag WithError(std::string text, Flag flag);
// Adds a line to `*deprecations` at the first use; `instead` is the replacement to recommend.
Flag Deprecated(std::vector<std::string>* deprecations, const std::string& instead, Flag flag);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_FLAG_KINDS_H_
