#include "lifecycle/model/model_fingerprint.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include "base/blake2b.h"

namespace nereid {
namespace {

constexpr int kMaxDepth = 8;  // limited, because a link may lead back up

void Add(absl::string_view text, Blake2b128* hash) {
  const uint64_t size = text.size();
  hash->Update(&size, sizeof(size));
  hash->Update(text.data(), text.size());
}

void AddFiles(const FileSystem& file_system, const std::string& directory,
              const std::string& prefix, int depth, Blake2b128* hash) {
  const auto entries = file_system.ListDirectory(directory);
  if (!entries.ok() || depth > kMaxDepth) return;
  for (const DirEntry& entry : *entries) {
    const std::string path = JoinPath(directory, entry.name);
    const std::string name = absl::StrCat(prefix, "/", entry.name);
    if (entry.is_directory) {
      AddFiles(file_system, path, name, depth + 1, hash);
    } else if (const auto stat = file_system.Stat(path); stat.ok()) {
      Add(absl::StrCat(name, "\n", stat->size, "\n", stat->mtime_ns), hash);
    }
  }
}

}  // namespace

std::string ModelFingerprint(const FileSystem& file_system, const std::string& model_dir,
                             const CompiledModel& model) {
  Blake2b128 hash;
  Add(model.json, &hash);
  AddFiles(file_system, JoinPath(model_dir, absl::StrCat(model.version)), "", 0, &hash);
  const Blake2b128::Digest digest = hash.Finish();
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace nereid
