// SPDX-License-Identifier: Apache-2.0
// PluginCache: a response cache in a shared library, libtritoncache_<name>.so, behind the C
// interface of tritoncache.h. Thread-safe, and the library must be thread-safe, too. Owned by the
// server.
//
// A library that also exports the function NEREIDCACHE_AnswersAtOnce (its existence is what counts;
// it is not called) declares that it never waits: see ResponseCache::answers_at_once.
#ifndef NEREID_CACHE_PLUGIN_CACHE_H_
#define NEREID_CACHE_PLUGIN_CACHE_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "base/export.h"
#include "cache/response_cache.h"
#include "plugin/plugin_library.h"
#include "triton/core/tritoncache.h"

namespace nereid {

class NEREID_API PluginCache final : public ResponseCache {
 public:
  // Loads <directory>/<name>/libtritoncache_<name>.so and initialises it with `config_json`.
  // INVALID_ARGUMENT if the library is missing or is not a cache, otherwise the cache's own error.
  static absl::StatusOr<std::unique_ptr<PluginCache>> Load(const std::string& directory,
                                                           const std::string& name,
                                                           const std::string& config_json);
  // REQUIRES: no call is in progress.
  ~PluginCache() override;

  const std::string& name() const override { return library_->name(); }
  bool answers_at_once() const override { return answers_at_once_; }
  absl::Status Lookup(const std::string& key,
                      absl::FunctionRef<absl::Status(absl::string_view)> read) override;
  absl::Status Insert(const std::string& key, size_t size,
                      absl::FunctionRef<void(char*)> write) override;

 private:
  explicit PluginCache(std::unique_ptr<PluginLibrary> library) : library_(std::move(library)) {}
  absl::Status FindEntryPoints();

  const std::unique_ptr<PluginLibrary> library_;
  bool answers_at_once_ = false;
  decltype(&TRITONCACHE_CacheInitialize) initialize_ = nullptr;
  decltype(&TRITONCACHE_CacheFinalize) finalize_ = nullptr;
  decltype(&TRITONCACHE_CacheLookup) lookup_ = nullptr;
  decltype(&TRITONCACHE_CacheInsert) insert_ = nullptr;
  bool initialized_ = false;
  TRITONCACHE_Cache* cache_ = nullptr;  // the library's own object
};

}  // namespace nereid

#endif  // NEREID_CACHE_PLUGIN_CACHE_H_
