// SPDX-License-Identifier: Apache-2.0
#include "documents/man_page.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>

#include "options/help_text.h"

namespace nereid {
namespace {

constexpr char kDescription[] =
    "Serves machine-learning models from folders over HTTP and gRPC, by the protocol KServe v2, on "
    "CPUs. It is a drop-in replacement for NVIDIA Triton Inference Server, and goes by its name, "
    "tritonserver, too. DIR is a model repository or the folder of one model; a model's file alone "
    "is served under the file's name. The server runs until SIGTERM or SIGINT, then finishes the "
    "requests that it has "
    "accepted.";
constexpr char kSignals[] =
    "SIGTERM and SIGINT end the server as --lame-duck-secs and --exit-timeout-secs say; a second "
    "SIGINT ends it at once. SIGHUP opens the files of --log-file and --access-log again; without "
    "these it ends the server.";
constexpr char kEnvironment[] =
    "NOTIFY_SOCKET, which systemd sets: the socket that is told when the server is ready and when "
    "it ends.";
constexpr char kExitStatus[] =
    "0 after an end by a signal; 1 if the server could not start, or had to leave something "
    "unfinished; 130 or 143 if a signal came before it had started.";

// Text in which nothing is a request or an escape. Hyphens become minus signs, so that options can
// be copied from the page.
std::string Escaped(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'")) {
    escaped.insert(0, "\\&");
  }
  return escaped;
}

std::string Bold(absl::string_view text) { return absl::StrCat("\\fB", Escaped(text), "\\fR"); }

std::string Title(const ProgramText& program, const std::string& name) {
  return absl::StrCat(".\\\" Made by `nereid man`.\n.TH ", Escaped(absl::AsciiStrToUpper(name)),
                      " 1 \"\" \"Nereid ", program.version, "\" \"User Commands\"\n.SH NAME\n",
                      Escaped(name), " \\- ");
}

// "--name=VALUE", "--name[=VALUE]": the name in bold.
std::string Spelling(absl::string_view text) {
  const size_t end = std::min(text.find_first_of("[="), text.size());
  return absl::StrCat(Bold(text.substr(0, end)), Escaped(text.substr(end)));
}

void AppendEntry(const std::string& term, absl::string_view text, std::string* page) {
  absl::StrAppend(page, ".TP\n", term, "\n", Escaped(text), "\n");
}

void AppendSection(const char* title, absl::string_view text, std::string* page) {
  absl::StrAppend(page, ".SH ", title, "\n", Escaped(text), "\n");
}

void AppendOption(const Flag& flag, std::string* page) {
  const std::string by_default =
      flag.default_text.empty() ? "" : absl::StrCat(" Default: ", flag.default_text);
  AppendEntry(Spelling(SpellingOf(flag)), flag.help + by_default, page);
}

}  // namespace

std::string ProgramManPage(const ProgramText& program) {
  std::string page =
      absl::StrCat(Title(program, "nereid"), "inference server\n.SH SYNOPSIS\n", Bold("nereid"),
                   " ", Spelling("--model-repository=DIR"), " [options]\n.br\n", Bold("nereid"),
                   " [serve] MODEL.onnx|DIR... [options]\n.br\n", Bold("nereid"), " COMMAND ...\n");
  AppendSection("DESCRIPTION", kDescription, &page);
  absl::StrAppend(&page, ".SH COMMANDS\n");
  for (const CommandTable& command : program.commands) {
    AppendEntry(Bold("nereid " + command.name),
                absl::StrCat(command.summary, ": nereid-", command.name, "(1)"), &page);
  }
  absl::StrAppend(&page, ".SH OPTIONS\n", Escaped("An unambiguous beginning of a name is enough."),
                  "\n");
  for (const FlagGroup& group : program.options) {
    absl::StrAppend(&page, ".SS ", Escaped(group.title), "\n");
    for (const Flag& flag : group.flags) AppendOption(flag, &page);
  }
  AppendSection("SIGNALS", kSignals, &page);
  AppendSection("ENVIRONMENT", kEnvironment, &page);
  AppendSection("EXIT STATUS", kExitStatus, &page);
  absl::StrAppend(&page, ".SH SEE ALSO\n");
  for (size_t i = 0; i < program.commands.size(); ++i) {
    absl::StrAppend(&page, i == 0 ? "" : ",\n", Bold("nereid-" + program.commands[i].name), "(1)");
  }
  return page + "\n";
}

std::string CommandManPage(const ProgramText& program, const CommandTable& command) {
  std::string page = absl::StrCat(
      Title(program, "nereid-" + command.name), Escaped(command.summary), "\n.SH SYNOPSIS\n",
      Escaped(absl::StrCat("nereid ", command.name, " ", command.synopsis)), "\n.SH DESCRIPTION\n");
  for (size_t i = 0; i < command.description.size(); ++i) {
    absl::StrAppend(&page, i == 0 ? "" : ".PP\n", Escaped(command.description[i]), "\n");
  }
  absl::StrAppend(&page, ".SH OPTIONS\n");
  AppendOption(HelpFlag(), &page);
  for (const Flag& flag : command.flags) AppendOption(flag, &page);
  AppendSection("EXIT STATUS", command.exit_status, &page);
  AppendSection("SEE ALSO", "nereid(1)", &page);
  return page;
}

}  // namespace nereid
