// SPDX-License-Identifier: Apache-2.0
#include "options/help_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>

namespace nereid {
namespace {

constexpr size_t kWidth = 80;  // of a terminal that nobody has made wider
constexpr size_t kWidestSpelling = 28;
constexpr absl::string_view kBefore = "  ";

}  // namespace

std::string SpellingOf(const Flag& flag) {
  if (flag.argument.empty()) return absl::StrCat("--", flag.name);
  const bool optional = flag.value_optional;
  return absl::StrCat("--", flag.name, optional ? "[=" : "=", flag.argument, optional ? "]" : "");
}

std::string Wrapped(absl::string_view text, size_t indent, size_t width) {
  std::string wrapped;
  size_t column = indent;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!wrapped.empty() && column + 1 + word.size() > width) {
      absl::StrAppend(&wrapped, "\n", std::string(indent, ' '));
      column = indent;
    } else if (!wrapped.empty()) {
      wrapped += ' ';
      ++column;
    }
    absl::StrAppend(&wrapped, word);
    column += word.size();
  }
  return wrapped;
}

std::string FirstSentence(const std::string& help) {
  absl::string_view sentence = absl::string_view(help).substr(0, help.find(". "));
  absl::ConsumeSuffix(&sentence, ".");
  return std::string(sentence);
}

std::string OptionLines(const std::vector<Flag>& flags) {
  size_t widest = 0;
  for (const Flag& flag : flags) {
    const size_t size = SpellingOf(flag).size();
    if (size <= kWidestSpelling) widest = std::max(widest, size);
  }
  const size_t column = 2 * kBefore.size() + widest;
  std::string text;
  for (const Flag& flag : flags) {
    const std::string spelling = SpellingOf(flag);
    const std::string help = flag.default_text.empty()
                                 ? flag.help
                                 : absl::StrCat(flag.help, " (default: ", flag.default_text, ")");
    absl::StrAppend(&text, kBefore, spelling);
    if (spelling.size() > widest) {
      absl::StrAppend(&text, "\n", std::string(column, ' '));
    } else {
      text.append(column - kBefore.size() - spelling.size(), ' ');
    }
    absl::StrAppend(&text, Wrapped(help, column, kWidth), "\n");
  }
  return text;
}

std::string CommandHelp(const CommandTable& table) {
  std::string text = absl::StrCat("Usage: nereid ", table.name, table.synopsis.empty() ? "" : " ",
                                  table.synopsis, "\n");
  for (const std::string& paragraph : table.description) {
    absl::StrAppend(&text, "\n", Wrapped(paragraph, 0, kWidth), "\n");
  }
  std::vector<Flag> flags = table.flags;
  flags.push_back(HelpFlag());
  absl::StrAppend(&text, "\n", OptionLines(flags), "\n",
                  Wrapped("Exit status: " + table.exit_status, 0, kWidth), "\n");
  return text;
}

std::string MarkdownRows(const std::vector<Flag>& flags) {
  std::string text;
  for (const Flag& flag : flags) {
    const auto cell = [](const std::string& words) {
      return absl::StrReplaceAll(words, {{"|", "\\|"}});
    };
    absl::StrAppend(&text, "| `", cell(SpellingOf(flag)), "` | ", cell(flag.default_text), " | ",
                    cell(flag.help), " |\n");
  }
  return text;
}

}  // namespace nereid
