// SPDX-License-Identifier: Apache-2.0
// ApiKeys: the keys of --api-key-file, each with the groups of the API that it opens. Reads the
// file again when it changes. Shared by the frontends; thread-safe.
//
// A line of the file is "<groups> <key>": groups separated by commas, or "all"; a key of 16 to 512
// visible characters. The key "*" opens the groups to everybody. Blank lines and what follows a '#'
// at the beginning of a word are ignored.
#ifndef NEREID_FRONTENDS_ACCESS_API_KEYS_H_
#define NEREID_FRONTENDS_ACCESS_API_KEYS_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/watched_files.h"
#include "frontends/access/api_group.h"
#include "frontends/access/secret.h"

namespace nereid {

// What one content of the file says. Immutable, thread-safe.
class ApiKeySet {
 public:
  static constexpr size_t kLeastKeyBytes = 16;
  static constexpr size_t kMostKeyBytes = 512;
  static constexpr size_t kMostKeys = 4096;

  // INVALID_ARGUMENT names the line, never the key.
  static absl::StatusOr<ApiKeySet> Parse(absl::string_view text);

  // The groups that are open without a key.
  ApiGroupSet open() const { return open_; }
  // Those that `key` opens; nothing for an unknown key. Looks at every key, so that the time tells
  // nothing about them.
  ApiGroupSet OpenedBy(absl::string_view key) const;
  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    Secret secret;
    ApiGroupSet groups;
  };

  absl::Status AddLine(absl::string_view line);

  std::vector<Key> keys_;
  ApiGroupSet open_ = 0;
};

class ApiKeys {
 public:
  static constexpr size_t kMostFileBytes = 4 << 20;

  // NOT_FOUND if the file cannot be read, INVALID_ARGUMENT for its content. REQUIRES: `clock` lives
  // as long as the keys.
  static absl::StatusOr<std::unique_ptr<ApiKeys>> Create(const std::string& path, Clock* clock);

  // The keys of now. Reads the file if it has changed, which is noticed within
  // WatchedFiles::kLookEvery; if it cannot be used, logs so, once for each change, and keeps the
  // old keys.
  std::shared_ptr<const ApiKeySet> Current() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  ApiKeys(const std::string& path, Clock* clock) : path_(path), file_({path}, clock) {}

  void Reload() ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::shared_ptr<const ApiKeySet>> Load() const;

  const std::string path_;
  WatchedFiles file_;

  Mutex mu_;
  std::shared_ptr<const ApiKeySet> keys_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_API_KEYS_H_
