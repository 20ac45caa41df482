// SPDX-License-Identifier: Apache-2.0
#include "caches/testing/behaviours.h"

#include <stdexcept>
#include <thread>

#include "caches/sdk/entry.h"

namespace nereid_cache {

using nereid_backend::Error;
using nereid_backend::StrCat;

Error TestingCache::Lookup(const std::string& key, TRITONCACHE_CacheEntry* entry,
                           TRITONCACHE_Allocator* allocator) {
  std::this_thread::sleep_for(lookup_time_);
  if (Is("lookup_fails")) return Error::Internal("this cache fails to look up");
  if (Is("lookup_throws")) throw std::runtime_error("this cache throws");
  std::string bytes;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return Error::NotFound("nothing there");
    bytes = found->second;
  }
  return ReadEntry(std::move(bytes), entry, allocator);
}

Error TestingCache::ReadEntry(std::string bytes, TRITONCACHE_CacheEntry* entry,
                              TRITONCACHE_Allocator* allocator) {
  if (Is("no_copy")) return {};
  if (Is("damages")) bytes.resize(bytes.size() - 1);
  NB_RETURN_IF_ERROR(AddBuffer(entry, bytes.data(), bytes.size()));
  if (Is("probes")) NB_RETURN_IF_ERROR(ProbeApi(entry, bytes.size()));
  if (Is("two_buffers")) NB_RETURN_IF_ERROR(AddBuffer(entry, bytes.data(), bytes.size()));
  NB_RETURN_IF_ERROR(TRITONCACHE_Copy(allocator, entry));
  if (Is("copies_twice")) {
    const Error second(TRITONCACHE_Copy(allocator, entry));
    if (second.ok()) return Error::Internal("a second TRITONCACHE_Copy succeeded");
  }
  return {};
}

Error TestingCache::Insert(const std::string& key, TRITONCACHE_CacheEntry* entry,
                           TRITONCACHE_Allocator* allocator) {
  if (Is("insert_fails")) return Error::Internal("this cache fails to insert");
  if (Is("insert_throws")) throw std::runtime_error("this cache throws");
  NB_ASSIGN_OR_RETURN(const std::vector<size_t> sizes, BufferSizes(entry));
  if (sizes.size() != 1) return Error::Internal("expected one buffer");
  if (Is("ignores_copy_error")) {
    const Error copied(TRITONCACHE_Copy(allocator, entry));
    return copied.ok() ? Error::Internal("TRITONCACHE_Copy without a buffer succeeded") : Error();
  }
  if (Is("probes")) NB_RETURN_IF_ERROR(ProbeApi(entry, sizes[0]));
  std::string bytes(sizes[0], '\0');
  NB_RETURN_IF_ERROR(SetBuffer(entry, 0, bytes.data()));
  NB_RETURN_IF_ERROR(TRITONCACHE_Copy(allocator, entry));
  const std::lock_guard<std::mutex> lock(mu_);
  if (!entries_.emplace(key, std::move(bytes)).second) {
    return Error(TRITONSERVER_ERROR_ALREADY_EXISTS, "there already");
  }
  return {};
}

Error ProbeApi(TRITONCACHE_CacheEntry* entry, size_t size) {
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesNew(&attributes));
  void* base = nullptr;
  size_t count = 0;
  std::string wrong;
  const auto must_fail = [&](const char* call, TRITONSERVER_Error* result) {
    const Error error(result);
    if (error.ok()) wrong += StrCat(call, " succeeded; ");
    if (!error.ok() && error.code() != TRITONSERVER_ERROR_INVALID_ARG) {
      wrong += StrCat(call, " gave another error: ", error.message(), "; ");
    }
  };
  must_fail("count of nothing", TRITONCACHE_CacheEntryBufferCount(nullptr, &count));
  must_fail("count to nowhere", TRITONCACHE_CacheEntryBufferCount(entry, nullptr));
  must_fail("get from nothing", TRITONCACHE_CacheEntryGetBuffer(nullptr, 0, &base, attributes));
  must_fail("get beyond", TRITONCACHE_CacheEntryGetBuffer(entry, 1, &base, attributes));
  must_fail("get without attributes", TRITONCACHE_CacheEntryGetBuffer(entry, 0, &base, nullptr));
  must_fail("set in nothing", TRITONCACHE_CacheEntrySetBuffer(nullptr, 0, &base, nullptr));
  must_fail("set beyond", TRITONCACHE_CacheEntrySetBuffer(entry, 7, &base, nullptr));
  must_fail("add to nothing", TRITONCACHE_CacheEntryAddBuffer(nullptr, &base, attributes));
  must_fail("add nothing", TRITONCACHE_CacheEntryAddBuffer(entry, nullptr, attributes));
  must_fail("add without attributes", TRITONCACHE_CacheEntryAddBuffer(entry, &base, nullptr));
  must_fail("copy by nobody", TRITONCACHE_Copy(nullptr, entry));
  NB_RETURN_IF_ERROR(
      TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_GPU));
  must_fail("add on a GPU", TRITONCACHE_CacheEntryAddBuffer(entry, &base, attributes));
  must_fail("set on a GPU", TRITONCACHE_CacheEntrySetBuffer(entry, 0, &base, attributes));
  NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesDelete(attributes));

  NB_RETURN_IF_ERROR(TRITONCACHE_CacheEntryBufferCount(entry, &count));
  NB_ASSIGN_OR_RETURN(const std::vector<size_t> sizes, BufferSizes(entry));
  if (count != 1 || sizes.size() != 1 || sizes[0] != size) wrong += "the entry has changed";
  uint32_t major = 9, minor = 9;
  NB_RETURN_IF_ERROR(TRITONCACHE_ApiVersion(&major, &minor));
  if (major != TRITONCACHE_API_VERSION_MAJOR || minor < TRITONCACHE_API_VERSION_MINOR) {
    wrong += "another API version";
  }
  return wrong.empty() ? Error() : Error::Internal(wrong);
}

}  // namespace nereid_cache
