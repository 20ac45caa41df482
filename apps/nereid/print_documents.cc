#include "print_documents.h"

#include <ostream>

#include "base/version.h"
#include "commands.h"
#include "documents/completion.h"
#include "documents/man_page.h"
#include "flags/flag_table.h"

namespace nereid {

const char kCompletionUsage[] =
    "Usage: nereid completion bash|zsh|fish\n"
    "\n"
    "Prints the completions of the command line for a shell. For the running shell:\n"
    "source <(nereid completion bash). For all: write them to a file of the shell's folder for\n"
    "completions; packages have done so.\n"
    "\n"
    "Exit status: 0; 2: there are none for this shell.\n";

const char kManUsage[] =
    "Usage: nereid man [COMMAND]\n"
    "\n"
    "Prints the manual page of the server or of a command, for man(1): nereid man | man -l -\n"
    "\n"
    "Exit status: 0; 2: there is no such command.\n";

namespace {

constexpr int kCannot = 2;

ProgramText DescribeProgram(Settings* settings) {
  ProgramText program = {kVersion, MakeFlagTable(settings), {}};
  for (const Command& command : Commands()) {
    program.commands.push_back({command.name, command.summary, command.usage});
  }
  return program;
}

// The one argument, if it is the only one and no option.
const std::string* OnlyArgument(const std::vector<std::string>& args) {
  return args.size() == 1 && args[0].rfind('-', 0) != 0 ? &args[0] : nullptr;
}

int WrongArguments(const char* usage, std::ostream& err) {
  err << usage;
  return kCannot;
}

}  // namespace

int CompletionCommand(const std::vector<std::string>& args, Settings, std::ostream& out,
                      std::ostream& err) {
  const std::string* const shell = OnlyArgument(args);
  if (shell == nullptr) return WrongArguments(kCompletionUsage, err);
  Settings defaults;
  const ProgramText program = DescribeProgram(&defaults);
  if (*shell == "bash") {
    out << BashCompletion(program);
  } else if (*shell == "zsh") {
    out << ZshCompletion(program);
  } else if (*shell == "fish") {
    out << FishCompletion(program);
  } else {
    err << "nereid completion: there is none for '" << *shell << "', but for bash, zsh and fish\n";
    return kCannot;
  }
  return 0;
}

int ManCommand(const std::vector<std::string>& args, Settings, std::ostream& out,
               std::ostream& err) {
  Settings defaults;
  const ProgramText program = DescribeProgram(&defaults);
  if (args.empty()) {
    out << ProgramManPage(program);
    return 0;
  }
  const std::string* const name = OnlyArgument(args);
  if (name == nullptr) return WrongArguments(kManUsage, err);
  for (const CommandText& command : program.commands) {
    if (command.name != *name) continue;
    out << CommandManPage(program, command);
    return 0;
  }
  err << "nereid man: there is no command '" << *name << "'; nereid --help lists them\n";
  return kCannot;
}

}  // namespace nereid
