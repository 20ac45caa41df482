// SPDX-License-Identifier: Apache-2.0
#include "tune/text_diff.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace nereid {
namespace {

constexpr size_t kContext = 3;  // equal lines around a difference

using Lines = std::vector<absl::string_view>;

Lines LinesOf(absl::string_view text) {
  Lines lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

struct Marked {
  char mark;
  absl::string_view line;
};

// By the longest common subsequence.
std::vector<Marked> Compare(const Lines& before, const Lines& after) {
  std::vector<std::vector<size_t>> common(before.size() + 1, std::vector<size_t>(after.size() + 1));
  for (size_t i = before.size(); i-- > 0;) {
    for (size_t j = after.size(); j-- > 0;) {
      common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1
                                           : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Marked> marked;
  size_t i = 0;
  size_t j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      marked.push_back({' ', before[i++]});
      ++j;
    } else if (i < before.size() && (j == after.size() || common[i + 1][j] >= common[i][j + 1])) {
      marked.push_back({'-', before[i++]});
    } else {
      marked.push_back({'+', after[j++]});
    }
  }
  return marked;
}

}  // namespace

std::string TextDiff(absl::string_view before, absl::string_view after) {
  if (before == after) return "";
  const std::vector<Marked> marked = Compare(LinesOf(before), LinesOf(after));
  std::vector<bool> shown(marked.size());
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i].mark == ' ') continue;
    const size_t end = std::min(marked.size(), i + kContext + 1);
    for (size_t near = i - std::min(i, kContext); near < end; ++near) shown[near] = true;
  }
  std::string text;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (shown[i]) {
      absl::StrAppend(&text, std::string(1, marked[i].mark), marked[i].line, "\n");
    } else if (i == 0 || shown[i - 1]) {
      absl::StrAppend(&text, "...\n");
    }
  }
  return text;
}

}  // namespace nereid
