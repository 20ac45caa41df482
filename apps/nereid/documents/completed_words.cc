#include "documents/completed_words.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <utility>

#include "documents/usage_text.h"

namespace nereid {
namespace {

using Kind = CompletedValue::Kind;

std::string FirstSentence(const std::string& help) {
  absl::string_view sentence = absl::string_view(help).substr(0, help.find(". "));
  absl::ConsumeSuffix(&sentence, ".");
  return std::string(sentence);
}

CompletedValue ValueOf(const Flag& flag) {
  if (flag.argument.empty()) return {Kind::kNone, {}};
  if (!flag.choices.empty()) return {Kind::kChoice, flag.choices};
  if (flag.argument == kFileArgument) return {Kind::kFile, {}};
  if (flag.argument == kFolderArgument) return {Kind::kFolder, {}};
  return {Kind::kAnything, {}};
}

// The word that stands for a value in a command's usage.
CompletedValue ValueOf(absl::string_view word, const std::vector<std::string>& commands) {
  absl::ConsumePrefix(&word, "[");
  absl::ConsumeSuffix(&word, "]");
  absl::ConsumeSuffix(&word, "...");
  if (word == "DIR") return {Kind::kFolder, {}};
  if (word == "FILE" || word == "LIB") return {Kind::kFile, {}};
  if (word == "COMMAND") return {Kind::kChoice, commands};
  if (absl::StrContains(word, '|')) return {Kind::kChoice, absl::StrSplit(word, '|')};
  return {word.empty() ? Kind::kNone : Kind::kAnything, {}};
}

}  // namespace

std::vector<CompletedOption> CompletedOptions(const ProgramText& program) {
  std::vector<CompletedOption> options;
  for (const FlagGroup& group : program.options) {
    for (const Flag& flag : group.flags) {
      options.push_back({flag.name, ValueOf(flag), absl::StrContains(flag.help, "several times"),
                         FirstSentence(flag.help)});
    }
  }
  return options;
}

std::vector<CompletedCommand> CompletedCommands(const ProgramText& program) {
  std::vector<std::string> names;
  for (const CommandText& text : program.commands) names.push_back(text.name);
  std::vector<CompletedCommand> commands;
  for (const CommandText& text : program.commands) {
    const UsageText usage = ParseUsage(text.usage);
    CompletedCommand command = {text.name, text.summary, {}, {}};
    command.options.push_back({"help", {}, false, "print how the command is used"});
    for (const UsageOption& option : usage.options) {
      for (const absl::string_view spelling : option.spellings) {
        const std::pair<absl::string_view, absl::string_view> parts =
            absl::StrSplit(absl::StripPrefix(spelling, "--"), absl::MaxSplits('=', 1));
        command.options.push_back({std::string(parts.first), ValueOf(parts.second, names),
                                   absl::StrContains(option.help, "repeated"), option.help});
      }
    }
    const std::vector<std::string> words = absl::StrSplit(usage.synopsis, ' ');
    // "nereid NAME [options] ARGUMENT"
    if (words.size() > 2 && words.back() != "[options]") {
      command.argument = ValueOf(words.back(), names);
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace nereid
