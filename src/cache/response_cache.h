// ResponseCache: where responses are kept under a key, as the scheduler that uses it sees it. A
// stored response is one run of bytes, whose meaning the cache does not know. Thread-safe.
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
  // Neither call below ever waits for anything (a network, a disk): I/O threads may make them.
  virtual bool answers_at_once() const = 0;

  // Finds what is stored under `key` and calls `read`, once, with its bytes, which are lent for
  // that call. NOT_FOUND: there is nothing, and `read` was not called. Any other error, of the
  // cache or of `read`: no answer, whatever `read` was given.
  virtual absl::Status Lookup(const std::string& key,
                              absl::FunctionRef<absl::Status(absl::string_view)> read) = 0;
  // Stores `size` bytes, which `write` puts where it is told, in a call or not at all.
  // ALREADY_EXISTS: there is something under that key; it stays.
  virtual absl::Status Insert(const std::string& key, size_t size,
                              absl::FunctionRef<void(char*)> write) = 0;
};

}  // namespace nereid

#endif  // NEREID_CACHE_RESPONSE_CACHE_H_
