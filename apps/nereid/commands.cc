#include "commands.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <unistd.h>

#include <cstdlib>

#include "backend_check/command.h"
#include "bench/bench_command.h"
#include "bench/bench_options.h"
#include "capacity/capacity_command.h"
#include "capacity/capacity_options.h"
#include "check.h"
#include "explain/explain_command.h"
#include "explain/explain_request.h"
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

}  // namespace

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
  };
  return kCommands;
}

const Command* FindCommand(absl::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::string CommandsHelp(const std::string& program) {
  std::string text = "\nCommands, each with a --help of its own:\n";
  for (const Command& command : Commands()) {
    absl::StrAppend(
        &text, absl::StrFormat("  %s %-13s %s\n", program, command.name, command.table().summary));
  }
  return text;
}

}  // namespace nereid
