// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/router.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>

namespace nereid {
namespace {

struct Name {
  absl::string_view text;
  PathSegment PathNames::*member;
};

constexpr Name kNames[] = {
    {"model", &PathNames::model},           {"version", &PathNames::version},
    {"label", &PathNames::label},           {"region", &PathNames::region},
    {"repository", &PathNames::repository}, {"request", &PathNames::request}};

// The member of PathNames for the name `text`; null if there is none.
PathSegment PathNames::*FindName(absl::string_view text) {
  for (const Name& name : kNames) {
    if (name.text == text) return name.member;
  }
  return nullptr;
}

bool IsValueOf(PathSegment PathNames::*name, absl::string_view segment) {
  if (segment.empty()) return false;
  return name != &PathNames::version ||
         std::all_of(segment.begin(), segment.end(), absl::ascii_isdigit);
}

}  // namespace

Router::Router(absl::Span<const absl::string_view> patterns) : nodes_(1) {
  for (size_t i = 0; i < patterns.size(); ++i) {
    const absl::string_view pattern = patterns[i];
    const size_t open = pattern.find('[');
    if (open == absl::string_view::npos) {
      Add(pattern, i);
      continue;
    }
    const size_t close = pattern.find(']', open);
    const absl::string_view before = pattern.substr(0, open);
    const absl::string_view optional = pattern.substr(open + 1, close - open - 1);
    const absl::string_view after = pattern.substr(close + 1);
    Add(absl::StrCat(before, after), i);
    Add(absl::StrCat(before, optional, after), i);
  }
}

void Router::Add(absl::string_view path, size_t pattern) {
  int node = 0;
  for (size_t open = path.find('{'); open != absl::string_view::npos; open = path.find('{')) {
    const size_t close = path.find('}', open);
    node = Follow(node, path.substr(0, open), FindName(path.substr(open + 1, close - open - 1)));
    path.remove_prefix(close + 1);
  }
  nodes_[node].tails.push_back({std::string(path), pattern});
}

int Router::Follow(int node, absl::string_view text, PathSegment PathNames::*name) {
  for (const Run& run : nodes_[node].runs) {
    if (run.text == text && run.name == name) return run.next;
  }
  const int next = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  std::vector<Run>& runs = nodes_[node].runs;
  const auto prefix = std::find_if(
      runs.begin(), runs.end(), [&](const Run& run) { return absl::StartsWith(text, run.text); });
  runs.insert(prefix, {std::string(text), name, next});
  return next;
}

std::optional<RouteMatch> Router::Match(absl::string_view path) const {
  RouteMatch match;
  if (!Walk(0, path, &match)) return std::nullopt;
  return match;
}

bool Router::Walk(int node, absl::string_view rest, RouteMatch* match) const {
  for (const Tail& tail : nodes_[node].tails) {
    if (tail.text != rest) continue;
    match->pattern = tail.pattern;
    return true;
  }
  for (const Run& run : nodes_[node].runs) {
    if (!absl::StartsWith(rest, run.text)) continue;
    const absl::string_view names = rest.substr(run.text.size());
    const absl::string_view segment = names.substr(0, names.find('/'));
    if (segment.size() == names.size() && WalkEnd(run, names, match)) return true;
    if (!IsValueOf(run.name, segment)) continue;
    if (!Walk(run.next, names.substr(segment.size()), match)) continue;
    (match->names.*run.name).encoded = segment;
    return true;
  }
  return false;
}

bool Router::WalkEnd(const Run& run, absl::string_view last, RouteMatch* match) const {
  for (const Tail& tail : nodes_[run.next].tails) {
    absl::string_view segment = last;
    if (!absl::StartsWith(tail.text, ":") || !absl::ConsumeSuffix(&segment, tail.text)) continue;
    if (!IsValueOf(run.name, segment)) continue;
    match->pattern = tail.pattern;
    (match->names.*run.name).encoded = segment;
    return true;
  }
  return false;
}

std::string PercentDecode(absl::string_view text) {
  if (!absl::StrContains(text, '%')) return std::string(text);
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace nereid
