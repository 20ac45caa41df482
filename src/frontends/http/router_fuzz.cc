// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as the path of a request. The router must find a pattern exactly if a comparison
// segment by segment does, and its segments must rebuild the path.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "frontends/http/router.h"

namespace {

// Patterns of every form that the routes have.
constexpr absl::string_view kPatterns[] = {
    "/v2",
    "/v2/health/live",
    "/v2/models/stats",
    "/v2/models/{model}[/versions/{version}]",
    "/v2/models/{model}[/versions/{version}]/infer",
    "/v2/models/{model}[/versions/{version}]/stats",
    "/v2/models/{model}/trace/setting",
    "/v2/repository[/{repository}]/index",
    "/v2/repository[/{repository}]/models/{model}/load",
    "/v2/systemsharedmemory[/region/{region}]/status",
    "/v1/models/{model}[/versions/{version}]",
    "/v1/models/{model}[/versions/{version}]:predict",
    "/v1/models/{model}/labels/{label}:predict",
};

void Require(bool condition) {
  if (!condition) std::abort();
}

// `pattern` without its optional part, or with it.
std::string Variant(absl::string_view pattern, bool with) {
  const size_t open = std::min(pattern.find('['), pattern.size());
  const size_t close = std::min(pattern.find(']'), pattern.size() - 1);
  if (open == pattern.size()) return std::string(pattern);
  return absl::StrCat(pattern.substr(0, open),
                      with ? pattern.substr(open + 1, close - open - 1) : "",
                      pattern.substr(close + 1));
}

bool Matches(const std::string& pattern, absl::string_view path) {
  const std::vector<absl::string_view> expected = absl::StrSplit(pattern, '/');
  const std::vector<absl::string_view> segments = absl::StrSplit(path, '/');
  return std::equal(expected.begin(), expected.end(), segments.begin(), segments.end(),
                    [](absl::string_view part, absl::string_view segment) {
                      if (part.empty() || part.front() != '{') return part == segment;
                      const size_t end = part.find('}') + 1;
                      if (!absl::ConsumeSuffix(&segment, part.substr(end))) return false;
                      part = part.substr(0, end);
                      const bool digits =
                          segment.find_first_not_of("0123456789") == absl::string_view::npos;
                      return !segment.empty() && (part != "{version}" || digits);
                    });
}

// What `names` holds for a segment of a pattern; the segment itself if it is no name. A value may
// look like another name ("/v2/models/{version}").
std::string ValueOf(absl::string_view segment, const nereid::PathNames& names) {
  const size_t end = segment.find('}') + 1;  // 0: it is no name
  const absl::string_view name = segment.substr(0, end);
  absl::string_view value;
  if (name == "{model}") value = names.model.encoded;
  if (name == "{version}") value = names.version.encoded;
  if (name == "{label}") value = names.label.encoded;
  if (name == "{region}") value = names.region.encoded;
  if (name == "{repository}") value = names.repository.encoded;
  return absl::StrCat(value, segment.substr(end));
}

// `pattern` with values in place of its names.
std::string Filled(const std::string& pattern, const nereid::PathNames& names) {
  const std::vector<absl::string_view> segments = absl::StrSplit(pattern, '/');
  std::string path;
  for (size_t i = 1; i < segments.size(); ++i) {
    absl::StrAppend(&path, "/", ValueOf(segments[i], names));
  }
  return path;
}

bool SomePatternMatches(absl::string_view path) {
  return std::any_of(std::begin(kPatterns), std::end(kPatterns), [&](absl::string_view pattern) {
    return Matches(Variant(pattern, false), path) || Matches(Variant(pattern, true), path);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const nereid::Router router(kPatterns);
  const std::string path(reinterpret_cast<const char*>(data), size);
  const auto match = router.Match(path);
  Require(match.has_value() == SomePatternMatches(path));
  if (match.has_value()) {
    const nereid::PathNames& names = match->names;
    const absl::string_view pattern = kPatterns[match->pattern];
    const bool with = !names.version.empty() || !names.region.empty() || !names.repository.empty();
    Require(Filled(Variant(pattern, with), names) == path);
    Require(names.model.empty() == (pattern.find("{model}") == absl::string_view::npos));
    Require(names.model.Decoded().size() <= names.model.encoded.size());
  }
  Require(nereid::PercentDecode(path).size() <= path.size());
  return 0;
}
