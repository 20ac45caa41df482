// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "documents/completed_words.h"
#include "documents/completion.h"

namespace nereid {
namespace {

using Kind = CompletedValue::Kind;

constexpr char kBegin[] = R"(# Completion of nereid for bash, made by `nereid completion bash`.
_nereid() {
  local word=${COMP_WORDS[COMP_CWORD]} option='' words='' kind=''
  # Of --option=value, bash makes three words.
  if [[ $word == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} word=''
  elif ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  elif ((COMP_CWORD > 1)); then
    option=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  COMPREPLY=()
)";

constexpr char kEnd[] = R"(  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
  if [[ -n $kind && $word != -* ]]; then
    compopt -o filenames
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$kind" -- "$word")
  fi
}
complete -F _nereid nereid tritonserver
)";

// The shell's words that set what is offered for a value.
std::string Offer(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::kChoice:
      return absl::StrCat("words=", Quoted(absl::StrJoin(value.choices, " ")));
    case Kind::kFile:
      return "kind=-f";
    case Kind::kFolder:
      return "kind=-d";
    case Kind::kNone:
    case Kind::kAnything:
      break;
  }
  return "";
}

std::string WordsOf(const std::vector<CompletedOption>& options) {
  return absl::StrJoin(options, " ", [](std::string* out, const CompletedOption& option) {
    absl::StrAppend(out, "--", option.name,
                    option.value.kind == Kind::kNone || option.value_optional ? "" : "=");
  });
}

// The options with the same offer become one branch.
void AppendValues(const std::vector<CompletedOption>& options, std::string* text) {
  std::map<std::string, std::set<std::string>> by_offer;
  for (const CompletedOption& option : options) {
    if (option.value.kind == Kind::kNone) continue;
    by_offer[Offer(option.value)].insert(absl::StrCat("--", option.name));
  }
  for (const auto& [offer, names] : by_offer) {
    absl::StrAppend(text, "        ", absl::StrJoin(names, " | "), ") ",
                    offer.empty() ? "return" : offer, " ;;\n");
  }
}

void AppendCommand(const CompletedCommand& command, std::string* text) {
  absl::StrAppend(text, "    1:", command.name, ")\n      case $option in\n");
  AppendValues(command.options, text);
  std::string words = WordsOf(command.options);
  std::string files;
  if (command.argument.kind == Kind::kChoice) {
    absl::StrAppend(&words, " ", absl::StrJoin(command.argument.choices, " "));
  } else if (const std::string offer = Offer(command.argument); !offer.empty()) {
    files = absl::StrCat(" ", offer);
  }
  absl::StrAppend(text, "        *) words=", Quoted(words), files, " ;;\n      esac\n      ;;\n");
}

}  // namespace

std::string BashCompletion(const ProgramText& program) {
  const std::vector<CompletedOption> options = CompletedOptions(program);
  std::string names = "serve ";
  std::string text = kBegin;
  absl::StrAppend(&text, "  case $((COMP_CWORD > 1)):${COMP_WORDS[1]} in\n");
  for (const CompletedCommand& command : CompletedCommands(program)) {
    absl::StrAppend(&names, command.name, " ");
    AppendCommand(command, &text);
  }
  absl::StrAppend(&text, "    *)\n      case $option in\n");
  AppendValues(options, &text);
  absl::StrAppend(&text, "        *)\n          kind=-f words=", Quoted(WordsOf(options)),
                  "\n          ((COMP_CWORD > 1)) || words+=", Quoted(" " + names),
                  "\n          ;;\n      esac\n      ;;\n  esac\n", kEnd);
  return text;
}

}  // namespace nereid
