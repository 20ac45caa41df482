// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/footprint_file.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/blake2b.h"

namespace nereid {
namespace {

constexpr absl::string_view kFirstLine = "footprints of models, 1";

std::string HashOf(absl::string_view text) {
  Blake2b128 hash;
  hash.Update(text.data(), text.size());
  const Blake2b128::Digest digest = hash.Finish();
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// "<bytes> <stamp> <name>", the latter two escaped. False if it is something else.
bool ReadLine(absl::string_view line, Footprints* footprints) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, '\t');
  Footprint footprint;
  std::string name;
  if (words.size() != 3 || !absl::SimpleAtoi(words[0], &footprint.bytes)) return false;
  if (!absl::CUnescape(words[1], &footprint.stamp) || !absl::CUnescape(words[2], &name)) {
    return false;
  }
  return footprints->emplace(std::move(name), std::move(footprint)).second;
}

}  // namespace

absl::StatusOr<Footprints> ReadFootprints(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) {
      return absl::NotFoundError(absl::StrCat("there is no file ", path));
    }
    return absl::InternalError(absl::StrCat("file ", path, " cannot be read"));
  }
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = std::move(content).str();
  const absl::Status damaged = absl::DataLossError(
      absl::StrCat("file ", path, " is damaged, or not one with footprints of models"));
  if (text.size() < 2 || text.back() != '\n') return damaged;
  const size_t end = text.rfind('\n', text.size() - 2);  // of the line before the hash
  if (end == std::string::npos) return damaged;
  const absl::string_view lines = absl::string_view(text).substr(0, end + 1);
  if (text.substr(end + 1) != absl::StrCat(HashOf(lines), "\n")) return damaged;
  Footprints footprints;
  bool first = true;
  for (const absl::string_view line : absl::StrSplit(lines.substr(0, end), '\n')) {
    if (first ? line != kFirstLine : !ReadLine(line, &footprints)) return damaged;
    first = false;
  }
  return footprints;
}

absl::Status WriteFootprints(const std::string& path, const Footprints& footprints) {
  std::string text = absl::StrCat(kFirstLine, "\n");
  for (const auto& [name, footprint] : footprints) {
    absl::StrAppend(&text, footprint.bytes, "\t", absl::CHexEscape(footprint.stamp), "\t",
                    absl::CHexEscape(name), "\n");
  }
  absl::StrAppend(&text, HashOf(text), "\n");
  const std::string fresh = absl::StrCat(path, ".new");
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      return absl::ErrnoToStatus(errno, absl::StrCat("file ", fresh, " cannot be written"));
    }
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("file ", path, " cannot be replaced"));
  }
  return absl::OkStatus();
}

}  // namespace nereid
