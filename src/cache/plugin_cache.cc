// SPDX-License-Identifier: Apache-2.0
#include "cache/plugin_cache.h"

#include <absl/strings/str_cat.h>

#include <exception>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "base/crash_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "c_objects/error.h"
#include "cache/c_objects.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

template <typename Call>
absl::Status PluginCache::Guarded(const char* function, const Call& call) const {
  const CrashContext context(name_.c_str(), "", function);
  try {
    return TakeCError(call());
  } catch (const std::exception& e) {
    return absl::InternalError(
        absl::StrCat("cache '", name_, "' threw an exception in ", function, ": ", e.what()));
  } catch (...) {
    return absl::InternalError(
        absl::StrCat("cache '", name_, "' threw an unknown exception in ", function));
  }
}

absl::StatusOr<std::unique_ptr<PluginCache>> PluginCache::Load(const std::string& directory,
                                                               const std::string& name,
                                                               const std::string& config_json) {
  if (directory.empty()) {
    return absl::InvalidArgumentError("cache directory can not be empty");
  }
  const std::string file = absl::StrCat("libtritoncache_", name, ".so");
  const fs::path folder = fs::path(directory) / name;
  // A name with a slash would lead out of the directory.
  if (name.find('/') != std::string::npos || name == ".." || !IsFile(folder / file)) {
    return absl::InvalidArgumentError(
        absl::StrCat("unable to find '", file, "' for cache. Searched: ", folder.string()));
  }
  absl::StatusOr<std::unique_ptr<SharedLibrary>> library =
      SharedLibrary::Open((folder / file).string());
  if (!library.ok()) {
    return absl::Status(library.status().code(),
                        absl::StrCat("cache '", name, "': ", library.status().message()));
  }
  std::unique_ptr<PluginCache> cache(new PluginCache(name, *std::move(library)));
  RETURN_IF_ERROR(cache->FindEntryPoints());
  RETURN_IF_ERROR(cache->Guarded("TRITONCACHE_CacheInitialize", [&] {
    return cache->initialize_(&cache->cache_, config_json.c_str());
  }));
  cache->initialized_ = true;
  LOG_INFO << "response cache '" << name << "' from " << (folder / file).string()
           << (cache->answers_at_once_ ? "" : ", used on threads of its own");
  return cache;
}

absl::Status PluginCache::FindEntryPoints() {
  absl::Status status;
  const auto find = [&](auto* slot, const char* symbol) {
    *slot = library_->Function<std::remove_pointer_t<decltype(slot)>>(symbol);
    if (*slot != nullptr) return;
    status.Update(
        absl::InvalidArgumentError(absl::StrCat("cache '", name_, "': library ", library_->path(),
                                                " does not export ", symbol, "; is it a cache?")));
  };
  find(&initialize_, "TRITONCACHE_CacheInitialize");
  find(&finalize_, "TRITONCACHE_CacheFinalize");
  find(&lookup_, "TRITONCACHE_CacheLookup");
  find(&insert_, "TRITONCACHE_CacheInsert");
  answers_at_once_ = library_->Find("NEREIDCACHE_AnswersAtOnce") != nullptr;
  return status;
}

PluginCache::~PluginCache() {
  if (!initialized_) return;
  const absl::Status status =
      Guarded("TRITONCACHE_CacheFinalize", [&] { return finalize_(cache_); });
  if (!status.ok()) LOG_ERROR << "failed finalizing cache '" << name_ << "': " << status.message();
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
  RETURN_IF_ERROR(Guarded("TRITONCACHE_CacheLookup",
                          [&] { return lookup_(cache_, key.c_str(), &entry, &allocator); }));
  if (allocator.result.has_value()) return *allocator.result;
  return absl::InternalError(
      absl::StrCat("cache '", name_, "' found an entry but did not call TRITONCACHE_Copy"));
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
  RETURN_IF_ERROR(Guarded("TRITONCACHE_CacheInsert",
                          [&] { return insert_(cache_, key.c_str(), &entry, &allocator); }));
  if (allocator.result.has_value()) return *allocator.result;
  return absl::InternalError(
      absl::StrCat("cache '", name_, "' took an entry but did not call TRITONCACHE_Copy"));
}

}  // namespace nereid
