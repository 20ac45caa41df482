#include "base/shared_library.h"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>
#include <link.h>

namespace nereid {

absl::StatusOr<std::unique_ptr<SharedLibrary>> SharedLibrary::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::InternalError(
        absl::StrCat("unable to load shared library: ", dlerror()));
  }
  return std::unique_ptr<SharedLibrary>(new SharedLibrary(path, handle));
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::Find(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (address == nullptr) return nullptr;
  // dlsym also searches the library's dependencies. A symbol that comes from one of those (a
  // backend links against the server library) is not an entry point of this library.
  Dl_info info;
  const link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || dladdr(address, &info) == 0) return address;
  return reinterpret_cast<ElfW(Addr)>(info.dli_fbase) == map->l_addr ? address : nullptr;
}

}  // namespace nereid
