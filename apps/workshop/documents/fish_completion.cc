// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <string>
#include <vector>

#include "documents/completed_words.h"
#include "documents/completion.h"

namespace nereid {
namespace {

using Kind = CompletedValue::Kind;

// Arguments of `complete` for a value.
std::string Offer(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::kNone:
      return "";
    case Kind::kChoice:
      return absl::StrCat(" -x -a ", Quoted(absl::StrJoin(value.choices, " ")));
    case Kind::kFile:
      return " -r -F";
    case Kind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case Kind::kAnything:
      break;
  }
  return " -x";
}

void AppendOptions(const std::vector<CompletedOption>& options, const std::string& condition,
                   std::string* text) {
  for (const CompletedOption& option : options) {
    absl::StrAppend(text, "complete -c nereid -n ", Quoted(condition), " -l ", option.name,
                    Offer(option.value), " -d ", Quoted(option.summary), "\n");
  }
}

}  // namespace

std::string FishCompletion(const ProgramText& program) {
  const std::vector<CompletedCommand> commands = CompletedCommands(program);
  std::string text =
      "# Completion of nereid for fish, made by `nereid completion fish`.\n"
      "complete -c tritonserver -w nereid\n"
      "complete -c nereid -f\n"
      "complete -c nereid -n __fish_use_subcommand -a serve -d 'serve models'\n";
  std::string names;
  for (const CompletedCommand& command : commands) {
    absl::StrAppend(&names, " ", command.name);
    const std::string seen = absl::StrCat("__fish_seen_subcommand_from ", command.name);
    absl::StrAppend(&text, "complete -c nereid -n __fish_use_subcommand -a ", command.name, " -d ",
                    Quoted(command.summary), "\n");
    AppendOptions(command.options, seen, &text);
    if (command.argument.kind == Kind::kChoice || command.argument.kind == Kind::kFolder) {
      absl::StrAppend(&text, "complete -c nereid -n ", Quoted(seen), Offer(command.argument), "\n");
    } else if (command.argument.kind == Kind::kFile) {
      absl::StrAppend(&text, "complete -c nereid -n ", Quoted(seen), " -F\n");
    }
  }
  const std::string no_command = absl::StrCat("not __fish_seen_subcommand_from", names);
  absl::StrAppend(&text, "complete -c nereid -n ", Quoted(no_command), " -F\n");
  AppendOptions(CompletedOptions(program), no_command, &text);
  return text;
}

}  // namespace nereid
