// SPDX-License-Identifier: Apache-2.0
#include "config/version_policy.h"

#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <set>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

// Directories that are not versions.
bool IsReserved(absl::string_view name) {
  return name == "warmup" || name == "initial_state" || name == "configs";
}

bool ParseVersion(absl::string_view name, int64_t* version) {
  // SimpleAtoi alone would also accept white space and signs.
  return absl::c_all_of(name, absl::ascii_isdigit) && absl::SimpleAtoi(name, version);
}

}  // namespace

VersionSelection SelectVersions(const std::string& model, absl::Span<const std::string> directories,
                                const VersionPolicy& policy) {
  VersionSelection selection;
  std::set<int64_t> present;
  for (const std::string& name : directories) {
    int64_t version = 0;
    if (IsReserved(name)) continue;
    // 1 and 01 would be the same version from two directories.
    if (name.size() > 1 && name[0] == '0') {
      selection.warnings.push_back(absl::StrCat("ignore version directory '", name,
                                                "' which contains leading zeros in its directory "
                                                "name"));
    } else if (!ParseVersion(name, &version)) {
      selection.warnings.push_back(absl::StrCat("ignore version directory '", name,
                                                "' which fails to convert to integral number"));
    } else {
      present.insert(version);
    }
  }

  switch (policy.kind) {
    case VersionPolicy::Kind::kAll:
      selection.versions.assign(present.begin(), present.end());
      break;
    case VersionPolicy::Kind::kLatest: {
      auto first = present.end();
      for (uint32_t n = 0; n < policy.latest && first != present.begin(); ++n) --first;
      selection.versions.assign(first, present.end());
      break;
    }
    case VersionPolicy::Kind::kSpecific:
      // A set again: the policy may name a version twice, and in any order.
      for (const int64_t version :
           std::set<int64_t>(policy.versions.begin(), policy.versions.end())) {
        if (present.count(version) != 0) {
          selection.versions.push_back(version);
        } else {
          selection.errors.push_back(absl::StrCat("version ", version, " of model '", model,
                                                  "' is asked for by its version policy, but "
                                                  "there is no such version directory"));
        }
      }
      break;
  }
  return selection;
}

absl::StatusOr<std::vector<int64_t>> ListServedVersions(const FileSystem& fs,
                                                        const std::string& model_dir,
                                                        const std::string& model,
                                                        const VersionPolicy& policy) {
  ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.ListDirectory(model_dir));
  std::vector<std::string> directories;
  for (const DirEntry& entry : entries) {
    if (entry.is_directory) directories.push_back(entry.name);
  }
  VersionSelection selection = SelectVersions(model, directories, policy);
  for (const std::string& warning : selection.warnings) {
    LOG_WARNING << "model '" << model << "': " << warning;
  }
  for (const std::string& error : selection.errors) LOG_ERROR << error;
  if (selection.versions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "at least one version must be available under the version policy of model '", model, "' (",
        model_dir, " holds ",
        directories.empty() ? "no directories"
                            : absl::StrCat("the directories: ", absl::StrJoin(directories, ", ")),
        ")"));
  }
  return std::move(selection.versions);
}

}  // namespace nereid
