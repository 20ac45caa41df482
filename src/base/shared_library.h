// SharedLibrary: a dlopen()ed object, closed when destroyed. Immutable after Open.
#ifndef NEREID_BASE_SHARED_LIBRARY_H_
#define NEREID_BASE_SHARED_LIBRARY_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

namespace nereid {

class SharedLibrary {
 public:
  // Opens `path` with all symbols resolved now and kept local. The error of the dynamic linker
  // (it names the missing symbol or library) becomes INTERNAL.
  static absl::StatusOr<std::unique_ptr<SharedLibrary>> Open(const std::string& path);

  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Address of `symbol`, or null when this library itself does not export it.
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
