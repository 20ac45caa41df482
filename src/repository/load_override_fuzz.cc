// SPDX-License-Identifier: Apache-2.0
// Arbitrary paths as the files of a load request. Whatever the paths are, the files must be written
// inside the model's own directory and leave nothing behind.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "repository/load_override.h"

namespace {

namespace fs = std::filesystem;

void Require(bool condition) {
  if (!condition) std::abort();
}

// A folder of this process for temporary files.
const fs::path& Parent() {
  static const fs::path parent = [] {
    std::string name = (fs::temp_directory_path() / "load_override_fuzz_XXXXXX").string();
    Require(mkdtemp(name.data()) != nullptr);
    setenv("TMPDIR", name.c_str(), 1);
    std::atexit([] { fs::remove_all(std::getenv("TMPDIR")); });
    return fs::path(name);
  }();
  return parent;
}

size_t Entries(const fs::path& folder) {
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++entries;
  return entries;
}

}  // namespace

// The input has one path per line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::LoadParameter;
  const fs::path& parent = Parent();
  std::vector<LoadParameter> parameters = {{"config", LoadParameter::Type::kString, "{}"}};
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const absl::string_view path : absl::StrSplit(text, '\n')) {
    parameters.push_back({absl::StrCat("file:", path), LoadParameter::Type::kBytes, "content"});
  }
  const auto override = nereid::ReadLoadParameters(parameters);
  Require(override.ok());
  {
    const auto directory = nereid::MakeModelDirectory(override->files);
    if (directory.ok()) {
      // The directory itself, in it the lock and the folder of files, and in that the requested
      // files.
      Require(Entries(parent) == 1);
      Require(Entries(fs::path((*directory)->path()).parent_path()) == 2);
      Require(Entries((*directory)->path()) >= 1);
    }
  }
  Require(Entries(parent) == 0);
  return 0;
}
