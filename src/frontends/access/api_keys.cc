// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/api_keys.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <fstream>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr absl::string_view kAllGroups = "all";
constexpr absl::string_view kNoKey = "*";

absl::StatusOr<ApiGroupSet> ParseGroups(absl::string_view text) {
  if (text == kAllGroups) return kAllApiGroups;
  ApiGroupSet groups = 0;
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    const std::optional<ApiGroup> group = ParseApiGroup(name);
    // The text is not repeated: somebody may have written the key first.
    if (!group.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the first word names an unknown group (known: all, ", ApiGroupNames(), ")"));
    }
    groups |= SetOf(*group);
  }
  return groups;
}

absl::Status CheckKey(absl::string_view key) {
  if (key.size() < ApiKeySet::kLeastKeyBytes || key.size() > ApiKeySet::kMostKeyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a key must have ", ApiKeySet::kLeastKeyBytes,
                                                   " to ", ApiKeySet::kMostKeyBytes,
                                                   " characters, but this one has ", key.size()));
  }
  if (!std::all_of(key.begin(), key.end(),
                   [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); })) {
    return absl::InvalidArgumentError("a key must consist of visible ASCII characters");
  }
  return absl::OkStatus();
}

// The words of a line in front of a comment.
std::vector<absl::string_view> WordsOf(absl::string_view line) {
  std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  const auto comment = std::find_if(words.begin(), words.end(),
                                    [](absl::string_view word) { return word.front() == '#'; });
  words.erase(comment, words.end());
  return words;
}

}  // namespace

absl::StatusOr<ApiKeySet> ApiKeySet::Parse(absl::string_view text) {
  ApiKeySet set;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (const absl::Status added = set.AddLine(line); !added.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", added.message()));
    }
  }
  if (set.keys_.empty()) return absl::InvalidArgumentError("there is no key in it");
  return set;
}

absl::Status ApiKeySet::AddLine(absl::string_view line) {
  const std::vector<absl::string_view> words = WordsOf(line);
  if (words.empty()) return absl::OkStatus();
  if (words.size() != 2) {
    return absl::InvalidArgumentError("a line must be '<groups> <key>', two words");
  }
  ASSIGN_OR_RETURN(const ApiGroupSet groups, ParseGroups(words[0]));
  if (words[1] == kNoKey) {
    open_ |= groups;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckKey(words[1]));
  if (keys_.size() == kMostKeys) {
    return absl::InvalidArgumentError(absl::StrCat("there are more than ", kMostKeys, " keys"));
  }
  keys_.push_back({Secret(words[1]), groups});
  return absl::OkStatus();
}

ApiGroupSet ApiKeySet::OpenedBy(absl::string_view key) const {
  const Secret given(key);
  ApiGroupSet groups = 0;
  for (const Key& known : keys_) {
    const auto mask = static_cast<ApiGroupSet>(-static_cast<int>(known.secret == given));
    groups |= known.groups & mask;
  }
  return groups;
}

absl::StatusOr<std::unique_ptr<ApiKeys>> ApiKeys::Create(const std::string& path, Clock* clock) {
  std::unique_ptr<ApiKeys> created(new ApiKeys(path, clock));
  ASSIGN_OR_RETURN(auto keys, created->Load());
  MutexLock lock(&created->mu_);
  created->keys_ = std::move(keys);
  return created;
}

std::shared_ptr<const ApiKeySet> ApiKeys::Current() {
  if (file_.Changed()) Reload();
  MutexLock lock(&mu_);
  return keys_;
}

void ApiKeys::Reload() {
  absl::StatusOr<std::shared_ptr<const ApiKeySet>> loaded = Load();
  if (!loaded.ok()) {
    LOG_WARNING << "the file of API keys has changed, but the keys loaded before stay in use: "
                << loaded.status().message();
    return;
  }
  LOG_INFO << "loaded the API keys in '" << path_ << "' again: " << (*loaded)->size() << " keys";
  MutexLock lock(&mu_);
  keys_.swap(*loaded);
}

absl::StatusOr<std::shared_ptr<const ApiKeySet>> ApiKeys::Load() const {
  std::ifstream file(path_, std::ios::binary);
  std::string text(kMostFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(absl::StrCat("cannot read the API keys from '", path_, "'"));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot use the API keys in '", path_, "': it has more than ", kMostFileBytes, " bytes"));
  }
  absl::StatusOr<ApiKeySet> keys = ApiKeySet::Parse(text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!keys.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot use the API keys in '", path_, "': ", keys.status().message()));
  }
  return std::make_shared<const ApiKeySet>(*std::move(keys));
}

}  // namespace nereid
