// SPDX-License-Identifier: Apache-2.0
// FakeTraceStorage: files in memory. For tests; thread-safe, and outlives the storage that it gives
// out.
#ifndef NEREID_FRONTENDS_TRACING_TESTING_FAKE_TRACE_STORAGE_H_
#define NEREID_FRONTENDS_TRACING_TESTING_FAKE_TRACE_STORAGE_H_

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "frontends/tracing/trace_files.h"

namespace nereid {

class FakeTraceStorage {
 public:
  std::unique_ptr<TraceStorage> Open() { return std::make_unique<Storage>(this); }

  std::map<std::string, std::string> files() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return files_;
  }
  // Every access fails from now on, or no longer.
  void Fail(bool fails) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    fails_ = fails;
  }

 private:
  class Storage final : public TraceStorage {
   public:
    explicit Storage(FakeTraceStorage* owner) : owner_(owner) {}
    absl::Status Write(const std::string& path, absl::string_view text) override {
      MutexLock lock(&owner_->mu_);
      if (owner_->fails_) return absl::InternalError("disk full");
      owner_->files_[path] = std::string(text);
      return absl::OkStatus();
    }
    absl::Status Rewrite(const std::string& path, uint64_t offset,
                         absl::string_view text) override {
      MutexLock lock(&owner_->mu_);
      if (owner_->fails_) return absl::InternalError("disk full");
      std::string& file = owner_->files_[path];
      if (offset > file.size()) return absl::InternalError("beyond the end");
      file.resize(offset);
      file.append(text.data(), text.size());
      return absl::OkStatus();
    }

   private:
    FakeTraceStorage* const owner_;
  };

  mutable Mutex mu_;
  std::map<std::string, std::string> files_ ABSL_GUARDED_BY(mu_);
  bool fails_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TESTING_FAKE_TRACE_STORAGE_H_
