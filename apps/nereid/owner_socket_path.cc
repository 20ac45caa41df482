// SPDX-License-Identifier: Apache-2.0
#include "owner_socket_path.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace nereid {
namespace {

// Whatever TMPDIR says: servers and commands have to agree.
constexpr char kTemporary[] = "/tmp";

}  // namespace

std::vector<std::string> OwnerSocketFolders(const std::string& runtime_folder, uid_t user) {
  std::vector<std::string> folders;
  if (absl::StartsWith(runtime_folder, "/")) {
    folders.push_back(absl::StrCat(runtime_folder, "/nereid"));
  }
  // That of the user's sessions, of which a service knows nothing; and that of root's services.
  folders.push_back(absl::StrCat("/run/user/", user, "/nereid"));
  if (user == 0) folders.push_back("/run/nereid");
  folders.push_back(absl::StrCat(kTemporary, "/nereid-", user));
  return folders;
}

std::vector<std::string> OwnerSocketFolders() {
  const char* const runtime_folder = std::getenv("XDG_RUNTIME_DIR");
  return OwnerSocketFolders(runtime_folder == nullptr ? "" : runtime_folder, geteuid());
}

std::string OwnerSocketName(uint16_t http_port) {
  return absl::StrCat("http-", http_port, ".sock");
}

absl::Status CheckOwnerFolder(const std::string& folder, uid_t user) {
  struct stat found;
  if (lstat(folder.c_str(), &found) != 0) {
    return absl::NotFoundError(absl::StrCat("'", folder, "': ", std::strerror(errno)));
  }
  const bool closed = (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (S_ISDIR(found.st_mode) && found.st_uid == user && closed) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "'", folder, "' is not a folder that only the user with the number ", user, " may write to"));
}

}  // namespace nereid
