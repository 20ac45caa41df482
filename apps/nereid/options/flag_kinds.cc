// SPDX-License-Identifier: Apache-2.0
#include "options/flag_kinds.h"

#include <algorithm>

namespace nereid {

Flag SwitchFlag(std::string name, std::function<void()> turn_on, std::string help) {
  return {std::move(name), "", "", std::move(help),
          [turn_on = std::move(turn_on)](absl::string_view) {
            turn_on();
            return absl::OkStatus();
          }};
}

Flag BooleanFlag(std::string name, bool* target, std::string help) {
  return {std::move(name),
          "<boolean>",
          *target ? "true" : "false",
          std::move(help),
          [target](absl::string_view value) { return ParseBool(value, target); },
          {"true", "false"}};
}

Flag StringFlag(std::string name, std::string* target, std::string help) {
  return {std::move(name), "<string>", *target, std::move(help), [target](absl::string_view value) {
            target->assign(value.data(), value.size());
            return absl::OkStatus();
          }};
}

Flag NonEmptyFlag(std::string name, std::string* target, std::string error, std::string help) {
  Flag flag = StringFlag(std::move(name), target, std::move(help));
  flag.set = [set = std::move(flag.set), error = std::move(error)](absl::string_view value) {
    return value.empty() ? absl::InvalidArgumentError(error) : set(value);
  };
  return flag;
}

Flag StringSetFlag(std::string name, std::set<std::string>* target, std::string help) {
  return Repeated(
      {std::move(name), "<string>", "", std::move(help), [target](absl::string_view value) {
         target->insert(std::string(value));
         return absl::OkStatus();
       }});
}

Flag PortFlag(std::string name, uint16_t* target, std::map<std::string, absl::Status>* errors) {
  const auto set = [name, target, errors](absl::string_view value) {
    int64_t number = 0;
    absl::Status status = ParseInteger(value, -kMaxInt, kMaxInt, &number);
    if (!status.ok()) return status;
    errors->erase(name);
    status = ParseInteger(value, 0, 65535, &number);
    if (status.ok()) {
      *target = static_cast<uint16_t>(number);
    } else {
      (*errors)[name] = status;
    }
    return absl::OkStatus();
  };
  return {name, "<integer>", absl::StrCat(*target),
          "Port to listen on; 0 picks a free one and prints it.", set};
}

Flag SecondsFlag(std::string name, Duration* target, IntegerRange range, std::string help) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*target);
  return {std::move(name), "<integer>", absl::StrCat(seconds.count()), std::move(help),
          [target, range](absl::string_view value) {
            int64_t number = 0;
            const absl::Status status = ParseInteger(value, range.low, range.high, &number);
            if (status.ok()) *target = std::chrono::seconds(number);
            return status;
          }};
}

Flag OfFile(Flag flag) {
  flag.argument = kFileArgument;
  return flag;
}

Flag OfFolder(Flag flag) {
  flag.argument = kFolderArgument;
  return flag;
}

Flag Repeated(Flag flag) {
  flag.repeated = true;
  return flag;
}

Flag Usual(Flag flag) {
  flag.usual = true;
  return flag;
}

Flag WithDefaultText(std::string text, Flag flag) {
  flag.default_text = std::move(text);
  return flag;
}

Flag WithError(std::string text, Flag flag) {
  flag.set = [set = std::move(flag.set), text = std::move(text)](absl::string_view value) {
    return set(value).ok() ? absl::OkStatus() : absl::InvalidArgumentError(text);
  };
  return flag;
}

Flag Deprecated(std::vector<std::string>* deprecations, const std::string& instead, Flag flag) {
  flag.set = [deprecations, set = std::move(flag.set),
              line = absl::StrCat("Warning: '--", flag.name, "' has been deprecated! Please use '",
                                  instead, "' instead.")](absl::string_view value) {
    if (std::find(deprecations->begin(), deprecations->end(), line) == deprecations->end()) {
      deprecations->push_back(line);
    }
    return set(value);
  };
  return flag;
}

}  // namespace nereid
