// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/version_files.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <utility>
#include <vector>

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

absl::StatusOr<OutputLabels> ReadLabels(const FileSystem& fs, const CompiledModel& model,
                                        const std::string& model_dir) {
  OutputLabels labels;
  for (const OutputSpec& output : model.outputs) {
    if (output.label_filename.empty()) continue;
    const std::string path = absl::StrCat(model_dir, "/", output.label_filename);
    absl::StatusOr<std::string> text = fs.ReadFile(path);
    if (!text.ok()) {
      return absl::Status(text.status().code(),
                          absl::StrCat("labels of output '", output.name, "' of model '",
                                       model.name, "': ", text.status().message()));
    }
    std::vector<std::string> lines = absl::StrSplit(*text, '\n');
    for (std::string& line : lines) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
    }
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    labels[output.name] = std::move(lines);
  }
  return labels;
}

std::string ModelFingerprint(const FileSystem& file_system, const std::string& model_dir,
                             const CompiledModel& model) {
  Blake2b128 hash;
  Add(model.json, &hash);
  AddFiles(file_system, JoinPath(model_dir, absl::StrCat(model.version)), "", 0, &hash);
  const Blake2b128::Digest digest = hash.Finish();
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace nereid
