// SPDX-License-Identifier: Apache-2.0
#include "documents/print_documents.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <ostream>

#include "base/version.h"
#include "commands.h"
#include "documents/completion.h"
#include "documents/man_page.h"
#include "flags/command_line.h"
#include "flags/flag_table.h"
#include "options/command_flags.h"
#include "options/help_text.h"
#include "options/parse.h"
#include "settings.h"
#include "workshop_commands.h"

namespace nereid {

namespace {

constexpr char kShells[] = "bash|zsh|fish";

ProgramText DescribeProgram(Settings* settings) {
  return {kVersion, MakeFlagTable(settings), AllCommandTables()};
}

CommandTable CompletionTableFor(std::string* shell) {
  CommandTable table;
  table.name = "completion";
  table.summary = "print the completions of a shell";
  table.synopsis = kShells;
  table.description = {
      "Prints the completions of the command line for a shell. For the running shell: source "
      "<(nereid completion bash). For all: write them to a file of the shell's folder for "
      "completions; packages have done so."};
  table.argument = {"SHELL", StoreIn(shell), false, absl::StrSplit(kShells, '|')};
  table.exit_status = "0; 2: there are none for this shell.";
  return table;
}

CommandTable ManTableFor(std::string* command) {
  CommandTable table;
  table.name = "man";
  table.summary = "print a manual page";
  table.synopsis = "[COMMAND]";
  table.description = {
      "Prints the manual page of the server or of a command, for man(1): nereid man | man -l -"};
  table.argument = {"COMMAND", StoreIn(command), false, CommandNames()};
  table.exit_status = "0; 2: there is no such command.";
  return table;
}

// The part of the page about commands.
std::string CommandsMarkdown() {
  std::string text =
      "\n# Commands\n\n`nereid COMMAND ...`; each has `--help`, too. A value is written as "
      "`--name=value` or `--name value`.\n";
  for (const CommandTable& table : AllCommandTables()) {
    absl::StrAppend(&text, "\n## nereid ", table.name, "\n\n`nereid ", table.name,
                    table.synopsis.empty() ? "" : " ", table.synopsis, "`: ", table.summary, ".\n");
    if (table.flags.empty()) continue;
    absl::StrAppend(&text, "\n| option | default | meaning |\n|---|---|---|\n",
                    MarkdownRows(table.flags));
  }
  return text;
}

}  // namespace

CommandTable CompletionTable() { return DescribedBy<std::string>(&CompletionTableFor); }

int CompletionCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  std::string shell;
  const absl::Status parsed = ParseCommandArguments(CompletionTableFor(&shell), args);
  if (!parsed.ok()) return WrongCommandLine("completion", parsed, err);
  Settings defaults;
  const ProgramText program = DescribeProgram(&defaults);
  if (shell == "bash") {
    out << BashCompletion(program);
  } else if (shell == "zsh") {
    out << ZshCompletion(program);
  } else if (shell == "fish") {
    out << FishCompletion(program);
  } else {
    return WrongCommandLine(
        "completion",
        absl::InvalidArgumentError(shell.empty() ? "the shell is missing: bash, zsh or fish"
                                                 : absl::StrCat("no completions for '", shell,
                                                                "', only for bash, zsh and fish")),
        err);
  }
  return 0;
}

CommandTable ManTable() { return DescribedBy<std::string>(&ManTableFor); }

int ManCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  std::string name;
  const absl::Status parsed = ParseCommandArguments(ManTableFor(&name), args);
  if (!parsed.ok()) return WrongCommandLine("man", parsed, err);
  Settings defaults;
  const ProgramText program = DescribeProgram(&defaults);
  if (name.empty() || name == kServeCommand) {
    out << ProgramManPage(program);
    return 0;
  }
  for (const CommandTable& command : program.commands) {
    if (command.name != name) continue;
    out << CommandManPage(program, command);
    return 0;
  }
  return NoSuchCommand("man", name, err);
}

void PrintOptionsPage(std::ostream& out) { out << HelpMarkdown() << CommandsMarkdown(); }

}  // namespace nereid
