// SPDX-License-Identifier: Apache-2.0
// SharedLibrary: a dlopen()ed object, closed when destroyed. Immutable after Open.
#ifndef NEREID_BASE_SHARED_LIBRARY_H_
#define NEREID_BASE_SHARED_LIBRARY_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "base/export.h"

namespace nereid {

class NEREID_API SharedLibrary {
 public:
  // Opens `path` with all symbols resolved at once and kept local. INTERNAL with the dynamic
  // linker's message, which names the missing symbol or library, and what is wrong if that message
  // misleads: a library for another processor is said not to exist.
  static absl::StatusOr<std::unique_ptr<SharedLibrary>> Open(const std::string& path);

  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Address of `symbol`, or null if this library does not export it itself.
  void* Find(const char* symbol) const;

  template <typename Fn>
  Fn Function(const char* symbol) const {
    return reinterpret_cast<Fn>(Find(symbol));
  }

  const std::string& path() const { return path_; }

 private:
  SharedLibrary(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}
  const std::string path_;
  void* const handle_;
};

}  // namespace nereid

#endif  // NEREID_BASE_SHARED_LIBRARY_H_
