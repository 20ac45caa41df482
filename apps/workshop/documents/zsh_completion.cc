// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <string>
#include <vector>

#include "documents/completed_words.h"
#include "documents/completion.h"

namespace nereid {
namespace {

using Kind = CompletedValue::Kind;

constexpr char kBegin[] = R"(#compdef nereid tritonserver
# Completion of nereid for zsh, made by `nereid completion zsh`.
_nereid() {
  if ((CURRENT > 2)); then
    case ${words[2]} in
)";

constexpr char kCommands[] = R"(    esac
  fi
  if ((CURRENT == 2)); then
    local -a commands=(
      'serve:serve models'
)";

constexpr char kOptions[] = R"(    )
    _describe command commands
  fi
  _arguments \
)";

// In the folder of completions the shell calls the file; otherwise it is sourced.
constexpr char kEnd[] = R"(}
if [[ ${funcstack[1]} == _nereid ]]; then
  _nereid "$@"
else
  compdef _nereid nereid tritonserver
fi
)";

// ":message:action" of a value; empty: there is none.
std::string Action(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::kNone:
      return "";
    case Kind::kChoice:
      return absl::StrCat(":value:(", absl::StrJoin(value.choices, " "), ")");
    case Kind::kFile:
      return ":file:_files";
    case Kind::kFolder:
      return ":folder:_files -/";
    case Kind::kAnything:
      break;
  }
  return ":value: ";
}

std::string Specification(const CompletedOption& option) {
  const std::string summary =
      absl::StrReplaceAll(option.summary, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}});
  return Quoted(absl::StrCat(option.repeated ? "*" : "", "--", option.name,
                             option.value.kind == Kind::kNone ? "" : "=", "[", summary, "]",
                             Action(option.value)));
}

std::string Specifications(const std::vector<CompletedOption>& options, const char* separator) {
  return absl::StrJoin(options, separator, [](std::string* out, const CompletedOption& option) {
    absl::StrAppend(out, Specification(option));
  });
}

}  // namespace

std::string ZshCompletion(const ProgramText& program) {
  const std::vector<CompletedCommand> commands = CompletedCommands(program);
  std::string text = kBegin;
  for (const CompletedCommand& command : commands) {
    const std::string argument = Action(command.argument);
    absl::StrAppend(&text, "      ", command.name, ")\n        _arguments ",
                    Specifications(command.options, " "),
                    argument.empty() ? "" : " " + Quoted("*" + argument),
                    "\n        return\n        ;;\n");
  }
  absl::StrAppend(&text, kCommands);
  for (const CompletedCommand& command : commands) {
    absl::StrAppend(&text, "      ", Quoted(absl::StrCat(command.name, ":", command.summary)),
                    "\n");
  }
  absl::StrAppend(&text, kOptions, "    ", Specifications(CompletedOptions(program), " \\\n    "),
                  " \\\n    '*:model:_files'\n", kEnd);
  return text;
}

}  // namespace nereid
