// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/runtime_library.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace nereid_backend {
namespace {

constexpr const char* kLibrary = "libonnxruntime.so.1";

std::mutex loading;
std::atomic<const OrtApiBase*> loaded{nullptr};

Result<const OrtApiBase*> Open(const std::string& path, const std::string& where) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string why = dlerror();
    return Error::NotFound(StrCat("no ONNX Runtime ", where, ": ", why,
                                  " (`pip install onnxruntime` brings it to a Python environment, "
                                  "the Debian package nereid-backend-onnxruntime to a system; the "
                                  "environment variable ",
                                  kRuntimeVariable, " names a file)"));
  }
  const auto base = reinterpret_cast<decltype(&::OrtGetApiBase)>(dlsym(library, "OrtGetApiBase"));
  if (base == nullptr) {
    dlclose(library);
    return Error::NotFound(StrCat("'", path, "' is not ONNX Runtime: it has no OrtGetApiBase"));
  }
  return base();
}

Result<const OrtApiBase*> Find(const std::string& folder) {
  const char* const named = std::getenv(kRuntimeVariable);
  if (named != nullptr && *named != '\0') {
    return Open(named, StrCat("in '", named, "', which ", kRuntimeVariable, " names"));
  }
  const std::string own = folder + "/" + kLibrary;
  std::error_code ignored;
  if (std::filesystem::exists(own, ignored)) return Open(own, StrCat("in '", own, "'"));
  return Open(kLibrary, StrCat("in '", folder, "', nor where libraries are looked for"));
}

}  // namespace

Result<const OrtApiBase*> LoadRuntime(const std::string& folder) {
  const std::lock_guard<std::mutex> lock(loading);
  if (const OrtApiBase* const base = loaded.load()) return base;
  NB_ASSIGN_OR_RETURN(const OrtApiBase* const base, Find(folder));
  loaded.store(base);
  return base;
}

const OrtApiBase* Runtime() { return loaded.load(); }

}  // namespace nereid_backend
