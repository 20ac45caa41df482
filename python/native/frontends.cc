// SPDX-License-Identifier: Apache-2.0
#include "python/native/frontends.h"

#include <dlfcn.h>

#include <mutex>

namespace nereid_python::native {
namespace {

constexpr char kLibrary[] = "libnereid_frontends.so";

struct Library {
  decltype(&NEREID_FrontendsStart) start = nullptr;
  decltype(&NEREID_FrontendsPort) port = nullptr;
  decltype(&NEREID_FrontendsStop) stop = nullptr;
  decltype(&NEREID_FrontendsOptions) options = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

TRITONSERVER_Error* Unavailable(const std::string& why) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, why.c_str());
}

// Loads the library once; it stays loaded.
TRITONSERVER_Error* Load(const Library** loaded) {
  static std::mutex mu;
  static Library library;  // guarded by mu until it is complete
  const std::lock_guard<std::mutex> lock(mu);
  *loaded = &library;
  if (library.options != nullptr) return nullptr;
  const std::string path = LibraryFolder() + "/" + kLibrary;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Unavailable(std::string("no port can be opened: ") + dlerror());
  }
  if (!Find(handle, "NEREID_FrontendsStart", &library.start) ||
      !Find(handle, "NEREID_FrontendsPort", &library.port) ||
      !Find(handle, "NEREID_FrontendsStop", &library.stop) ||
      !Find(handle, "NEREID_FrontendsOptions", &library.options)) {
    return Unavailable("no port can be opened: " + path + " is of another version");
  }
  return nullptr;
}

}  // namespace

std::string LibraryFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&TRITONSERVER_ApiVersion), &info) == 0) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

TRITONSERVER_Error* FrontendOptions(const char** names) {
  const Library* library = nullptr;
  if (TRITONSERVER_Error* error = Load(&library); error != nullptr) return error;
  *names = library->options();
  return nullptr;
}

TRITONSERVER_Error* Frontends::Start(TRITONSERVER_Server* server,
                                     const std::vector<std::string>& options) {
  const Library* library = nullptr;
  if (TRITONSERVER_Error* error = Load(&library); error != nullptr) return error;
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  const std::lock_guard<std::mutex> lock(mu_);
  if (frontends_ != nullptr) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_ALREADY_EXISTS,
                                 "the ports of the server are open already");
  }
  return library->start(server, texts.data(), texts.size(), &frontends_);
}

TRITONSERVER_Error* Frontends::Port(const char* protocol, uint16_t* port) {
  const std::lock_guard<std::mutex> lock(mu_);
  const Library* library = nullptr;
  if (frontends_ == nullptr) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_NOT_FOUND, "the server has no open port");
  }
  if (TRITONSERVER_Error* error = Load(&library); error != nullptr) return error;
  return library->port(frontends_, protocol, port);
}

TRITONSERVER_Error* Frontends::Stop() {
  const std::lock_guard<std::mutex> lock(mu_);
  if (hang_) return Unavailable("the ports of the server hang");
  if (frontends_ == nullptr) return nullptr;
  const Library* library = nullptr;
  if (TRITONSERVER_Error* error = Load(&library); error != nullptr) return error;
  TRITONSERVER_Error* error = library->stop(frontends_);
  hang_ = error != nullptr;
  frontends_ = nullptr;
  return error;
}

}  // namespace nereid_python::native
