// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "check.h"
#include "flags/command_line.h"
#include "flags/flag_table.h"
#include "options/command_flags.h"
#include "options/help_text.h"
#include "options/parse.h"
#include "probe/probe_command.h"
#include "probe/probe_request.h"
#include "run_model.h"
#include "workshop.h"

namespace nereid {
namespace {

constexpr int kNoSuchCommand = 2;

int RunProbe(const std::vector<std::string>& args, Settings, std::ostream& out, std::ostream& err) {
  const char* url = std::getenv(kProbeUrlVariable);
  return ProbeCommand(args, url == nullptr ? "" : url, out, err);
}

constexpr Command InWorkshop(const char* name, const char* summary) {
  return {name, nullptr, nullptr, summary};
}

CommandTable HelpTableFor(std::string* command) {
  CommandTable table;
  table.name = "help";
  table.summary = "say how the program or a command is used";
  table.synopsis = "[COMMAND]";
  table.description = {
      "Prints what `nereid --help` prints, or the help of a command. `nereid help serve` lists all "
      "options of the server."};
  table.argument = {"COMMAND", StoreIn(command), false, CommandNames()};
  table.exit_status = "0; 2: there is no such command.";
  return table;
}

CommandTable HelpTable() { return DescribedBy<std::string>(&HelpTableFor); }

int RunHelp(const std::vector<std::string>& args, Settings, std::ostream& out, std::ostream& err) {
  std::string name;
  const absl::Status parsed = ParseCommandArguments(HelpTableFor(&name), args);
  if (!parsed.ok()) return WrongCommandLine("help", parsed, err);
  if (name.empty()) {
    out << ShortHelp();
    return 0;
  }
  if (name == kServeCommand) {
    out << HelpText("nereid") << CommandsHelp("nereid");
    return 0;
  }
  const Command* const command = FindCommand(name);
  if (command == nullptr) return NoSuchCommand("help", name, err);
  if (command->in_workshop()) return RunInWorkshop({name, "--help"}, err);
  out << CommandHelp(command->table());
  return 0;
}

}  // namespace

std::vector<std::string> CommandNames() {
  std::vector<std::string> names = {kServeCommand};
  for (const Command& command : Commands()) names.emplace_back(command.name);
  return names;
}

absl::Span<const Command> Commands() {
  static constexpr Command kCommands[] = {
      {"check", &CheckTable, &CheckCommand, nullptr},
      {"run-model", &RunModelTable, &RunModelCommand, nullptr},
      {"probe", &ProbeTable, &RunProbe, nullptr},
      InWorkshop("explain", "say where the time of a request went, or why batches are as they are"),
      InWorkshop("bench", "measure how fast a running server answers"),
      InWorkshop("top", "show what a running server does, model by model"),
      InWorkshop("replay", "play a recording back, in virtual time or against a server"),
      InWorkshop("tune", "find the best instance count and batching of a model"),
      InWorkshop("capacity", "say how many nodes a load needs, by measured times and a simulation"),
      InWorkshop("backend-check", "exercise a backend and tell what is wrong with it"),
      InWorkshop("completion", "print the completions of a shell"),
      InWorkshop("man", "print a manual page"),
      {"help", &HelpTable, &RunHelp, nullptr},
  };
  return kCommands;
}

const Command* FindCommand(absl::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int NoSuchCommand(absl::string_view asker, absl::string_view name, std::ostream& err) {
  err << "nereid " << asker << ": there is no command '" << name << "'" << MeantCommand(name)
      << "\n`nereid help` lists the commands.\n";
  return kNoSuchCommand;
}

std::string MeantCommand(absl::string_view name) { return DidYouMean(CommandNames(), "", name); }

std::string CommandLines() {
  constexpr size_t kColumn = 17;
  constexpr size_t kWidth = 80;
  std::string text = absl::StrFormat("  %-14s %s\n", kServeCommand,
                                     "serve models, which is done without a command, too");
  for (const Command& command : Commands()) {
    absl::StrAppend(&text, absl::StrFormat("  %-14s %s\n", command.name,
                                           Wrapped(command.Summary(), kColumn, kWidth)));
  }
  return text;
}

std::string CommandsHelp(const std::string& program) {
  std::string text = "\nCommands, each with a --help of its own:\n";
  for (const Command& command : Commands()) {
    absl::StrAppend(&text,
                    absl::StrFormat("  %s %-13s %s\n", program, command.name, command.Summary()));
  }
  return text;
}

std::string ShortHelp() {
  static constexpr char kRepositoryFlag[] = "model-repository";
  Settings defaults;
  std::vector<Flag> usual;
  for (const FlagGroup& group : MakeFlagTable(&defaults)) {
    for (const Flag& flag : group.flags) {
      if (!flag.usual) continue;
      usual.push_back(flag);
      usual.back().help = FirstSentence(flag.help);
    }
  }
  // What to serve comes first, then the ports.
  std::rotate(usual.begin(),
              std::find_if(usual.begin(), usual.end(),
                           [](const Flag& flag) { return flag.name == kRepositoryFlag; }),
              usual.end());
  return absl::StrCat(
      "Nereid serves machine-learning models over HTTP and gRPC, on CPUs, as NVIDIA\n"
      "Triton Inference Server does.\n"
      "\n"
      "  nereid MODEL.onnx   serve a model's file\n"
      "  nereid DIR          serve a model's folder, or a repository of such folders\n"
      "  nereid COMMAND ...  do something else; `nereid help COMMAND` says how\n"
      "\nCommands:\n",
      CommandLines(), "\nOptions of the server that most people need (--help-all lists all):\n",
      OptionLines(usual));
}

}  // namespace nereid
