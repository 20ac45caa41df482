#include "documents/man_page.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <utility>

#include "documents/usage_text.h"

namespace nereid {
namespace {

constexpr char kDescription[] =
    "Serves machine-learning models from folders over HTTP and gRPC, by the protocol KServe v2. It "
    "takes the place of NVIDIA's Triton Inference Server where that runs on CPUs, and goes by its "
    "name, too. The server runs until SIGTERM or SIGINT, then finishes the requests that it has "
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

// "--name=VALUE": the name in bold.
std::string Spelling(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  return absl::StrCat(Bold(parts.first), parts.second.empty() ? "" : "=", Escaped(parts.second));
}

void AppendEntry(const std::string& term, absl::string_view text, std::string* page) {
  absl::StrAppend(page, ".TP\n", term, "\n", Escaped(text), "\n");
}

void AppendSection(const char* title, absl::string_view text, std::string* page) {
  absl::StrAppend(page, ".SH ", title, "\n", Escaped(text), "\n");
}

}  // namespace

std::string ProgramManPage(const ProgramText& program) {
  std::string page = absl::StrCat(Title(program, "nereid"), "inference server\n.SH SYNOPSIS\n",
                                  Bold("nereid"), " ", Spelling("--model-repository=DIR"),
                                  " [options]\n.br\n", Bold("nereid"), " COMMAND ...\n");
  AppendSection("DESCRIPTION", kDescription, &page);
  absl::StrAppend(&page, ".SH COMMANDS\n");
  for (const CommandText& command : program.commands) {
    AppendEntry(Bold("nereid " + command.name),
                absl::StrCat(command.summary, ": nereid-", command.name, "(1)"), &page);
  }
  absl::StrAppend(&page, ".SH OPTIONS\n", Escaped("An unambiguous beginning of a name is enough."),
                  "\n");
  for (const FlagGroup& group : program.options) {
    absl::StrAppend(&page, ".SS ", Escaped(group.title), "\n");
    for (const Flag& flag : group.flags) {
      const std::string by_default =
          flag.default_text.empty() ? "" : absl::StrCat(" Default: ", flag.default_text);
      AppendEntry(
          Spelling(absl::StrCat("--", flag.name, flag.argument.empty() ? "" : "=", flag.argument)),
          flag.help + by_default, &page);
    }
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

std::string CommandManPage(const ProgramText& program, const CommandText& command) {
  const UsageText usage = ParseUsage(command.usage);
  std::string page =
      absl::StrCat(Title(program, "nereid-" + command.name), Escaped(command.summary),
                   "\n.SH SYNOPSIS\n", Escaped(usage.synopsis), "\n.SH DESCRIPTION\n");
  for (size_t i = 0; i < usage.paragraphs.size(); ++i) {
    absl::StrAppend(&page, i == 0 ? "" : ".PP\n", Escaped(usage.paragraphs[i]), "\n");
  }
  absl::StrAppend(&page, ".SH OPTIONS\n");
  AppendEntry(Spelling("--help"), "print how the command is used", &page);
  for (const UsageOption& option : usage.options) {
    std::string term;
    for (const std::string& spelling : option.spellings) {
      absl::StrAppend(&term, term.empty() ? "" : ", ", Spelling(spelling));
    }
    AppendEntry(term, option.help, &page);
  }
  if (!usage.exit_status.empty()) AppendSection("EXIT STATUS", usage.exit_status, &page);
  AppendSection("SEE ALSO", "nereid(1)", &page);
  return page;
}

}  // namespace nereid
