// SPDX-License-Identifier: Apache-2.0
#include "base/installation.h"

#include <dlfcn.h>

#include <system_error>

namespace nereid {

namespace fs = std::filesystem;

fs::path InstalledFolder(const fs::path& file, const std::string& kind) {
  const fs::path prefix = file.parent_path().parent_path();
  const fs::path packaged = prefix / "lib" / "nereid";
  std::error_code error;
  return (fs::is_directory(packaged, error) ? packaged : prefix) / kind;
}

fs::path OwnLibrary() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&OwnLibrary), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file;
}

}  // namespace nereid
