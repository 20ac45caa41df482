// SPDX-License-Identifier: Apache-2.0
#include "documents/completed_words.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <utility>

#include "options/help_text.h"

namespace nereid {
namespace {

using Kind = CompletedValue::Kind;

CompletedValue ValueOf(absl::string_view argument, const std::vector<std::string>& choices) {
  if (argument.empty()) return {Kind::kNone, {}};
  if (!choices.empty()) return {Kind::kChoice, choices};
  if (IsFile(argument)) return {Kind::kFile, {}};
  if (IsFolder(argument)) return {Kind::kFolder, {}};
  return {Kind::kAnything, {}};
}

CompletedOption OptionOf(const Flag& flag) {
  return {flag.name, ValueOf(flag.argument, flag.choices), flag.value_optional, flag.repeated,
          FirstSentence(flag.help)};
}

}  // namespace

std::vector<CompletedOption> CompletedOptions(const ProgramText& program) {
  std::vector<CompletedOption> options;
  for (const FlagGroup& group : program.options) {
    for (const Flag& flag : group.flags) options.push_back(OptionOf(flag));
  }
  return options;
}

std::vector<CompletedCommand> CompletedCommands(const ProgramText& program) {
  std::vector<CompletedCommand> commands;
  for (const CommandTable& table : program.commands) {
    CompletedCommand command = {table.name,
                                table.summary,
                                {OptionOf(HelpFlag())},
                                ValueOf(table.argument.name, table.argument.choices)};
    for (const Flag& flag : table.flags) command.options.push_back(OptionOf(flag));
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace nereid
