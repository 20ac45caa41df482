// SPDX-License-Identifier: Apache-2.0
// ResponseCache: stores responses by key; the interface that the caching scheduler uses. A stored
// response is one run of bytes, whose meaning the cache does not know. Thread-safe.
#ifndef NEREID_CACHE_RESPONSE_CACHE_H_
#define NEREID_CACHE_RESPONSE_CACHE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <string>

namespace nereid {

class ResponseCache {
 public:
  virtual ~ResponseCache() = default;

  // For log messages.
  virtual const std::string& name() const = 0;
  // True if neither call below ever waits for anything (a network, a disk), so that I/O threads may
  // make them.
  virtual bool answers_at_once() const = 0;

  // Finds the response stored under `key` and calls `read` once with its bytes, which are valid
  // during that call only. NOT_FOUND: nothing is stored, and `read` was not called. Any other
  // error, whether of the cache or of `read`, means that there is no result, whatever `read` was
  // given.
  virtual absl::Status Lookup(const std::string& key,
                              absl::FunctionRef<absl::Status(absl::string_view)> read) = 0;
  // Stores `size` bytes. `write` is called at most once and writes the bytes into the memory it is
  // given. ALREADY_EXISTS: the key is in use, and the stored response stays.
  virtual absl::Status Insert(const std::string& key, size_t size,
                              absl::FunctionRef<void(char*)> write) = 0;
};

}  // namespace nereid

#endif  // NEREID_CACHE_RESPONSE_CACHE_H_
