// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/memory_map.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <string>
#include <utility>

namespace nereid {
namespace {

// The mapping that a line like "7f00-7f10 rw-p 00000000 00:00 0   [heap]" begins; nothing if the
// line begins none.
struct Header {
  Mapping mapping;
  bool anonymous = false;
};
std::optional<Header> ParseHeader(absl::string_view line) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.size() < 5) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(words[0], '-');
  Header header;
  if (!absl::SimpleHexAtoi(ends.first, &header.mapping.begin) ||
      !absl::SimpleHexAtoi(ends.second, &header.mapping.end)) {
    return std::nullopt;
  }
  header.anonymous = absl::StartsWith(words[1], "rw") && words[1].back() == 'p' && words[4] == "0";
  return header;
}

// The value in bytes of a line like "AnonHugePages:  2048 kB"; nothing if it has another key.
std::optional<uint64_t> ParseField(absl::string_view line, absl::string_view key) {
  if (!absl::StartsWith(line, key)) return std::nullopt;
  const std::vector<absl::string_view> words =
      absl::StrSplit(line.substr(key.size()), ' ', absl::SkipEmpty());
  uint64_t kibibytes = 0;
  if (words.empty() || !absl::SimpleAtoi(words[0], &kibibytes)) return std::nullopt;
  return kibibytes * 1024;
}

}  // namespace

std::vector<Mapping> AnonymousMappings(std::istream& smaps) {
  std::vector<Mapping> mappings;
  bool wanted = false;  // the last header
  for (std::string line; std::getline(smaps, line);) {
    if (const std::optional<Header> header = ParseHeader(line)) {
      wanted = header->anonymous;
      if (wanted) mappings.push_back(header->mapping);
    } else if (!wanted) {
      continue;
    } else if (const auto anonymous = ParseField(line, "Anonymous:")) {
      mappings.back().anonymous = *anonymous;
    } else if (const auto huge = ParseField(line, "AnonHugePages:")) {
      mappings.back().huge = *huge;
    }
  }
  return mappings;
}

std::optional<uint64_t> AnonymousBytes(absl::string_view statm, uint64_t page_bytes) {
  // Pages: size resident shared ...; those of files and of shared memory are "shared".
  const std::vector<absl::string_view> words = absl::StrSplit(statm, ' ');
  uint64_t resident = 0;
  uint64_t shared = 0;
  if (words.size() < 3 || !absl::SimpleAtoi(words[1], &resident) ||
      !absl::SimpleAtoi(words[2], &shared)) {
    return std::nullopt;
  }
  return (resident - std::min(resident, shared)) * page_bytes;
}

bool AllOwnAndPresent(absl::Span<const uint64_t> entries) {
  constexpr uint64_t kPresent = uint64_t{1} << 63;
  constexpr uint64_t kOfFile = uint64_t{1} << 61;
  constexpr uint64_t kMappedOnce = uint64_t{1} << 56;
  return std::all_of(entries.begin(), entries.end(), [](uint64_t entry) {
    return (entry & (kPresent | kOfFile | kMappedOnce)) == (kPresent | kMappedOnce);
  });
}

bool HugePagesAllowed(absl::string_view enabled) {
  // All choices, with the one in force in brackets.
  return absl::StrContains(enabled, "[madvise]") || absl::StrContains(enabled, "[always]");
}

}  // namespace nereid
