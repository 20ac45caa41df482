#include "backends/python/environment/archive_library.h"

#include <dlfcn.h>

#include <mutex>

namespace nereid_backend {
namespace {

constexpr const char* kLibrary = "libarchive.so.13";

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

Error Load(ArchiveLibrary* functions) {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("archives are unpacked by libarchive (Debian package libarchive13): ",
                        dlerror(), "; an environment may also be a folder"));
  }
#define NEREID_ARCHIVE_FIND(name)                                                    \
  if (!Find(library, #name, &functions->name)) {                                     \
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(kLibrary, " lacks " #name)); \
  }
  NEREID_ARCHIVE_FUNCTIONS(NEREID_ARCHIVE_FIND)
#undef NEREID_ARCHIVE_FIND
  return Error();
}

}  // namespace

Result<const ArchiveLibrary*> LoadArchiveLibrary() {
  static std::mutex mu;
  static ArchiveLibrary functions;  // guarded by mu until it is complete
  static bool complete = false;     // guarded by mu
  const std::lock_guard<std::mutex> lock(mu);
  if (!complete) NB_RETURN_IF_ERROR(Load(&functions));
  complete = true;
  return &functions;
}

}  // namespace nereid_backend
