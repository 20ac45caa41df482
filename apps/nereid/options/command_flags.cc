// SPDX-License-Identifier: Apache-2.0
#include "options/command_flags.h"

namespace nereid {
namespace {

constexpr char kConfigFile[] = "config.pbtxt";

FlagSetter StoreUnlessEmpty(const std::string& name, std::string* to, const char* right) {
  return [=](absl::string_view text) {
    *to = std::string(text);
    return text.empty() ? WrongValue(name, text, right) : absl::OkStatus();
  };
}

}  // namespace

absl::Status WrongValue(absl::string_view name, absl::string_view text, absl::string_view right) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", name, " is '", text, "'; it has to be ", right));
}

Flag TurnOnFlag(std::string name, bool* to, std::string help) {
  return {std::move(name), "", "", std::move(help), [to](absl::string_view) {
            *to = true;
            return absl::OkStatus();
          }};
}

Flag NameFlag(std::string name, std::string* to, std::string help) {
  const FlagSetter set = StoreUnlessEmpty(name, to, "a name");
  return {std::move(name), "NAME", *to, std::move(help), set};
}

Flag FileFlag(std::string name, std::string* to, std::string help) {
  const FlagSetter set = StoreUnlessEmpty(name, to, "the name of a file");
  return {std::move(name), "FILE", *to, std::move(help), set};
}

Flag FolderFlag(std::string name, std::string* to, std::string help) {
  const FlagSetter set = StoreUnlessEmpty(name, to, "the name of a folder");
  return {std::move(name), "DIR", *to, std::move(help), set};
}

Flag ConfigFileFlag(std::string name, std::string* to, std::string help) {
  const auto set = [name, to](absl::string_view text) {
    *to = std::string(text);
    if (text.substr(text.rfind('/') + 1) == kConfigFile) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, " must name a file ", kConfigFile, ", not ", text));
  };
  return {name, "FILE", "", std::move(help), set};
}

Flag NamesFlag(std::string name, std::vector<std::string>* to, std::string help) {
  Flag flag = {std::move(name), "NAME", "", std::move(help), [to](absl::string_view text) {
                 to->emplace_back(text);
                 return absl::OkStatus();
               }};
  flag.repeated = true;
  return flag;
}

Flag PassedFlag(std::string name, std::string argument, std::vector<std::string>* to,
                std::string help) {
  const auto set = [name, to](absl::string_view text) {
    to->push_back(absl::StrCat("--", name, "=", text));
    return absl::OkStatus();
  };
  Flag flag = {std::move(name), std::move(argument), "", std::move(help), set};
  flag.repeated = true;
  return flag;
}

FlagSetter StoreIn(std::string* to) {
  return [to](absl::string_view text) {
    *to = std::string(text);
    return absl::OkStatus();
  };
}

}  // namespace nereid
