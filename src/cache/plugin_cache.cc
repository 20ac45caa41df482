// SPDX-License-Identifier: Apache-2.0
#include "cache/plugin_cache.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "c_objects/error.h"
#include "cache/c_objects.h"

namespace nereid {
absl::StatusOr<std::unique_ptr<PluginCache>> PluginCache::Load(const std::string& directory,
                                                               const std::string& name,
                                                               const std::string& config_json) {
  if (directory.empty()) {
    return absl::InvalidArgumentError("cache directory can not be empty");
  }
  const std::string file = absl::StrCat("libtritoncache_", name, ".so");
  const std::optional<std::string> path = PluginLibrary::Find(directory, name, file);
  if (!path.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unable to find '", file, "' for cache. Searched: ", directory, "/", name));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PluginLibrary> library,
                   PluginLibrary::Load("cache", name, *path));
  std::unique_ptr<PluginCache> cache(new PluginCache(std::move(library)));
  RETURN_IF_ERROR(cache->FindEntryPoints());
  RETURN_IF_ERROR(cache->library_->Run("TRITONCACHE_CacheInitialize", [&] {
    return cache->initialize_(&cache->cache_, config_json.c_str());
  }));
  cache->initialized_ = true;
  LOG_INFO << "response cache '" << name << "' from " << *path
           << (cache->answers_at_once_ ? "" : ", used on threads of its own");
  return cache;
}

absl::Status PluginCache::FindEntryPoints() {
  RETURN_IF_ERROR(library_->Require("TRITONCACHE_CacheInitialize", &initialize_));
  RETURN_IF_ERROR(library_->Require("TRITONCACHE_CacheFinalize", &finalize_));
  RETURN_IF_ERROR(library_->Require("TRITONCACHE_CacheLookup", &lookup_));
  RETURN_IF_ERROR(library_->Require("TRITONCACHE_CacheInsert", &insert_));
  answers_at_once_ = library_->Exports("NEREIDCACHE_AnswersAtOnce");
  return absl::OkStatus();
}

PluginCache::~PluginCache() {
  if (!initialized_) return;
  library_->Finalize("TRITONCACHE_CacheFinalize", [&] { return finalize_(cache_); });
}

absl::Status PluginCache::Lookup(const std::string& key,
                                 absl::FunctionRef<absl::Status(absl::string_view)> read) {
  TRITONCACHE_CacheEntry entry;
  const auto copy = [&](const TRITONCACHE_CacheEntry& found) -> absl::Status {
    if (found.buffers.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected one buffer for a response, got ", found.buffers.size()));
    }
    const TRITONCACHE_CacheEntry::Buffer& buffer = found.buffers[0];
    return read({static_cast<const char*>(buffer.base), buffer.attributes.byte_size});
  };
  TRITONCACHE_Allocator allocator{copy, std::nullopt};
  RETURN_IF_ERROR(library_->Run("TRITONCACHE_CacheLookup",
                                [&] { return lookup_(cache_, key.c_str(), &entry, &allocator); }));
  if (allocator.result.has_value()) return *allocator.result;
  return absl::InternalError(
      absl::StrCat("cache '", name(), "' found an entry but did not call TRITONCACHE_Copy"));
}

absl::Status PluginCache::Insert(const std::string& key, size_t size,
                                 absl::FunctionRef<void(char*)> write) {
  TRITONCACHE_CacheEntry entry;
  entry.buffers.emplace_back();
  entry.buffers[0].attributes.byte_size = size;
  const auto copy = [&](const TRITONCACHE_CacheEntry& given) -> absl::Status {
    const bool has_room = given.buffers.size() == 1 && given.buffers[0].base != nullptr &&
                          given.buffers[0].attributes.byte_size >= size;
    if (!has_room) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected one buffer of ", size, " bytes to copy a response into"));
    }
    write(static_cast<char*>(given.buffers[0].base));
    return absl::OkStatus();
  };
  TRITONCACHE_Allocator allocator{copy, std::nullopt};
  RETURN_IF_ERROR(library_->Run("TRITONCACHE_CacheInsert",
                                [&] { return insert_(cache_, key.c_str(), &entry, &allocator); }));
  if (allocator.result.has_value()) return *allocator.result;
  return absl::InternalError(
      absl::StrCat("cache '", name(), "' took an entry but did not call TRITONCACHE_Copy"));
}

}  // namespace nereid
