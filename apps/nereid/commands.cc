// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <utility>

#include "backend_check/command.h"
#include "bench/bench_command.h"
#include "bench/bench_options.h"
#include "capacity/capacity_command.h"
#include "capacity/capacity_options.h"
#include "check.h"
#include "explain/explain_command.h"
#include "explain/explain_request.h"
#include "flags/command_line.h"
#include "flags/flag_table.h"
#include "options/command_flags.h"
#include "options/help_text.h"
#include "options/parse.h"
#include "print_documents.h"
#include "probe/probe_command.h"
#include "probe/probe_request.h"
#include "replay/replay_command.h"
#include "run_model.h"
#include "top/top_command.h"
#include "top/top_request.h"
#include "tune/tune_command.h"
#include "tune/tune_options.h"

namespace nereid {
namespace {

constexpr int kNoSuchCommand = 2;

int RunProbe(const std::vector<std::string>& args, Settings, std::ostream& out, std::ostream& err) {
  const char* url = std::getenv(kProbeUrlVariable);
  return ProbeCommand(args, url == nullptr ? "" : url, out, err);
}

bool ToTerminal() { return isatty(STDOUT_FILENO) != 0; }

// Colours where standard output is a terminal, unless the user does not want them (no-color.org).
bool WithColours() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return ToTerminal() && (no_colour == nullptr || *no_colour == '\0');
}

int RunExplain(const std::vector<std::string>& args, Settings, std::ostream& out,
               std::ostream& err) {
  return ExplainCommand(args, WithColours(), out, err);
}

int RunTop(const std::vector<std::string>& args, Settings, std::ostream& out, std::ostream& err) {
  return TopCommand(args, {ToTerminal(), WithColours()}, out, err);
}

int RunBench(const std::vector<std::string>& args, Settings, std::ostream& out, std::ostream& err) {
  return BenchCommand(args, out, err);
}

int RunTune(const std::vector<std::string>& args, Settings, std::ostream& out, std::ostream& err) {
  return TuneCommand(args, out, err);
}

int RunCapacity(const std::vector<std::string>& args, Settings, std::ostream& out,
                std::ostream& err) {
  return CapacityCommand(args, out, err);
}

int RunReplay(const std::vector<std::string>& args, Settings, std::ostream& out,
              std::ostream& err) {
  return ReplayCommand(args, out, err);
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
      {"check", &CheckTable, &CheckCommand},
      {"run-model", &RunModelTable, &RunModelCommand},
      {"probe", &ProbeTable, &RunProbe},
      {"explain", &ExplainTable, &RunExplain},
      {"bench", &bench::BenchTable, &RunBench},
      {"top", &TopTable, &RunTop},
      {"replay", &ReplayTable, &RunReplay},
      {"tune", &TuneTable, &RunTune},
      {"capacity", &CapacityTable, &RunCapacity},
      {"backend-check", &BackendCheckTable, &BackendCheckCommand},
      {"completion", &CompletionTable, &CompletionCommand},
      {"man", &ManTable, &ManCommand},
      {"help", &HelpTable, &RunHelp},
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
                                           Wrapped(command.table().summary, kColumn, kWidth)));
  }
  return text;
}

std::string CommandsHelp(const std::string& program) {
  std::string text = "\nCommands, each with a --help of its own:\n";
  for (const Command& command : Commands()) {
    absl::StrAppend(
        &text, absl::StrFormat("  %s %-13s %s\n", program, command.name, command.table().summary));
  }
  return text;
}

std::string ShortHelp() {
  Settings defaults;
  std::vector<Flag> usual;
  for (const FlagGroup& group : MakeFlagTable(&defaults)) {
    for (const Flag& flag : group.flags) {
      if (!flag.usual) continue;
      usual.push_back(flag);
      usual.back().help = FirstSentence(flag.help);
    }
  }
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

std::string CommandsMarkdown() {
  std::string text =
      "\n# Commands\n\n`nereid COMMAND ...`; each has `--help`, too. A value is written as "
      "`--name=value` or `--name value`.\n";
  for (const Command& command : Commands()) {
    const CommandTable table = command.table();
    absl::StrAppend(&text, "\n## nereid ", table.name, "\n\n`nereid ", table.name,
                    table.synopsis.empty() ? "" : " ", table.synopsis, "`: ", table.summary, ".\n");
    if (table.flags.empty()) continue;
    absl::StrAppend(&text, "\n| option | default | meaning |\n|---|---|---|\n",
                    MarkdownRows(table.flags));
  }
  return text;
}

}  // namespace nereid
