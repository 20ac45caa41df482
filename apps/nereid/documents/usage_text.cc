#include "documents/usage_text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <utility>

namespace nereid {
namespace {

constexpr absl::string_view kOptionIndent = "  --";
constexpr absl::string_view kColumnGap = "  ";

void AppendWords(absl::string_view line, std::string* text) {
  line = absl::StripAsciiWhitespace(line);
  absl::StrAppend(text, text->empty() || line.empty() ? "" : " ", line);
}

// "  --a=X, --b    help"; the help may begin on the next line.
UsageOption ParseOption(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const size_t gap = line.find(kColumnGap);
  UsageOption option;
  for (absl::string_view spelling : absl::StrSplit(line.substr(0, gap), ", --")) {
    absl::ConsumePrefix(&spelling, "--");
    option.spellings.push_back(absl::StrCat("--", spelling));
  }
  if (gap != absl::string_view::npos) AppendWords(line.substr(gap), &option.help);
  return option;
}

}  // namespace

UsageText ParseUsage(absl::string_view usage) {
  constexpr absl::string_view kSynopsis = "Usage: ";
  constexpr absl::string_view kExitStatus = "Exit status: ";
  UsageText text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    absl::string_view words = paragraph;
    if (absl::ConsumePrefix(&words, kSynopsis)) {
      text.synopsis = std::string(words);
    } else if (absl::ConsumePrefix(&words, kExitStatus)) {
      text.exit_status = std::string(words);
    } else if (!words.empty()) {
      text.paragraphs.emplace_back(words);
    }
    paragraph.clear();
  };
  bool in_option = false;
  for (const absl::string_view line : absl::StrSplit(usage, '\n')) {
    if (absl::StartsWith(line, kOptionIndent)) {
      end_paragraph();
      text.options.push_back(ParseOption(line));
      in_option = true;
    } else if (in_option && absl::StartsWith(line, kColumnGap)) {
      AppendWords(line, &text.options.back().help);
    } else {
      in_option = false;
      if (line.empty()) end_paragraph();
      AppendWords(line, &paragraph);
    }
  }
  end_paragraph();
  return text;
}

}  // namespace nereid
