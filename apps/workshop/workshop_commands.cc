// SPDX-License-Identifier: Apache-2.0
#include "workshop_commands.h"

#include <unistd.h>

#include <cstdlib>
#include <ostream>

#include "backend_check/command.h"
#include "bench/bench_command.h"
#include "bench/bench_options.h"
#include "capacity/capacity_command.h"
#include "capacity/capacity_options.h"
#include "commands.h"
#include "documents/print_documents.h"
#include "explain/explain_command.h"
#include "explain/explain_request.h"
#include "options/help_text.h"
#include "options/parse.h"
#include "replay/replay_command.h"
#include "top/top_command.h"
#include "top/top_request.h"
#include "tune/tune_command.h"
#include "tune/tune_options.h"

namespace nereid {
namespace {

constexpr int kNoSuchCommand = 2;

bool ToTerminal() { return isatty(STDOUT_FILENO) != 0; }

// Colours where standard output is a terminal, unless the user does not want them (no-color.org).
bool WithColours() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return ToTerminal() && (no_colour == nullptr || *no_colour == '\0');
}

int RunExplain(const std::vector<std::string>& args, const std::string&, std::ostream& out,
               std::ostream& err) {
  return ExplainCommand(args, WithColours(), out, err);
}

int RunTop(const std::vector<std::string>& args, const std::string&, std::ostream& out,
           std::ostream& err) {
  return TopCommand(args, {ToTerminal(), WithColours()}, out, err);
}

// A command that needs nothing of the installation.
template <int (*kCommand)(const std::vector<std::string>&, std::ostream&, std::ostream&)>
int Run(const std::vector<std::string>& args, const std::string&, std::ostream& out,
        std::ostream& err) {
  return kCommand(args, out, err);
}

}  // namespace

absl::Span<const WorkshopCommand> WorkshopCommands() {
  static constexpr WorkshopCommand kCommands[] = {
      {"explain", &ExplainTable, &RunExplain},
      {"bench", &bench::BenchTable, &Run<BenchCommand>},
      {"top", &TopTable, &RunTop},
      {"replay", &ReplayTable, &Run<ReplayCommand>},
      {"tune", &TuneTable, &TuneCommand},
      {"capacity", &CapacityTable, &Run<CapacityCommand>},
      {"backend-check", &BackendCheckTable, &BackendCheckCommand},
      {"completion", &CompletionTable, &Run<CompletionCommand>},
      {"man", &ManTable, &Run<ManCommand>},
  };
  return kCommands;
}

const WorkshopCommand* FindWorkshopCommand(absl::string_view name) {
  for (const WorkshopCommand& command : WorkshopCommands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::vector<CommandTable> AllCommandTables() {
  std::vector<CommandTable> tables;
  for (const Command& command : Commands()) {
    tables.push_back(command.in_workshop() ? FindWorkshopCommand(command.name)->table()
                                           : command.table());
  }
  return tables;
}

int RunWorkshop(const std::string& nereid, const std::vector<std::string>& words, std::ostream& out,
                std::ostream& err) {
  if (words == std::vector<std::string>{kOptionsPage}) {
    PrintOptionsPage(out);
    return 0;
  }
  const WorkshopCommand* const command =
      words.empty() ? nullptr : FindWorkshopCommand(words.front());
  if (command == nullptr) {
    err << "nereid-workshop: this program is a part of `nereid`, which starts it with a command\n";
    return kNoSuchCommand;
  }
  const std::vector<std::string> args(words.begin() + 1, words.end());
  if (AsksForHelp(args)) {
    out << CommandHelp(command->table());
    return 0;
  }
  return command->run(args, nereid, out, err);
}

}  // namespace nereid
