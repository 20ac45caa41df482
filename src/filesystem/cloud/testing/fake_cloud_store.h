// SPDX-License-Identifier: Apache-2.0
// FakeCloudStore: one bucket in memory, for tests. Counts what it is asked. Thread-safe.
#ifndef NEREID_FILESYSTEM_CLOUD_TESTING_FAKE_CLOUD_STORE_H_
#define NEREID_FILESYSTEM_CLOUD_TESTING_FAKE_CLOUD_STORE_H_

#include <absl/strings/str_cat.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "filesystem/cloud/cloud_store.h"

namespace nereid {

class FakeCloudStore final : public CloudStore {
 public:
  struct Counts {
    int lists = 0;
    int stats = 0;
    int fetches = 0;
  };

  // A path that ends with a slash is a folder.
  void Put(const std::string& path, std::string content) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    objects_[path] = {std::move(content), ++changes_};
  }
  void Remove(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    objects_.erase(path);
  }
  // From now on, until it is OK, everything fails with it.
  void Fail(absl::Status error) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    error_ = std::move(error);
  }
  // From now on contents arrive without their last byte.
  void Cut(bool cut) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    cut_ = cut;
  }
  Counts counts() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return counts_;
  }

  absl::StatusOr<std::vector<CloudObject>> List(const std::string& /*repository*/) override
      ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++counts_.lists;
    if (!error_.ok()) return error_;
    std::vector<CloudObject> found;
    for (const auto& [path, object] : objects_) {
      found.push_back({path, object.content.size(), object.change * 1'000'000'000, ""});
    }
    return found;
  }
  absl::StatusOr<CloudObject> Stat(const std::string& /*repository*/,
                                   const std::string& path) override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++counts_.stats;
    if (!error_.ok()) return error_;
    const auto found = objects_.find(path);
    if (found == objects_.end()) return absl::NotFoundError(path);
    return CloudObject{path, found->second.content.size(), 0, Tag(found->second)};
  }
  absl::Status Fetch(const std::string& /*repository*/, const CloudObject& object,
                     const std::string& target) override ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++counts_.fetches;
    if (!error_.ok()) return error_;
    const auto found = objects_.find(object.path);
    if (found == objects_.end()) return absl::NotFoundError(object.path);
    if (Tag(found->second) != object.tag) return absl::UnavailableError("it was replaced");
    std::string content = found->second.content;
    if (cut_) content.pop_back();
    std::ofstream(target, std::ios::binary) << content;
    return absl::OkStatus();
  }

 private:
  struct Object {
    std::string content;
    int64_t change = 0;
  };
  static std::string Tag(const Object& object) { return absl::StrCat("tag ", object.change); }

  Mutex mu_;
  std::map<std::string, Object> objects_ ABSL_GUARDED_BY(mu_);
  int64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status error_ ABSL_GUARDED_BY(mu_);
  bool cut_ ABSL_GUARDED_BY(mu_) = false;
  Counts counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FILESYSTEM_CLOUD_TESTING_FAKE_CLOUD_STORE_H_
