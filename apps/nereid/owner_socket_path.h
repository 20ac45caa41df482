// SPDX-License-Identifier: Apache-2.0
// Where a server has the Unix socket for the user who runs it, and where that user's commands look
// for it. Functions without state.
#ifndef NEREID_APPS_NEREID_OWNER_SOCKET_PATH_H_
#define NEREID_APPS_NEREID_OWNER_SOCKET_PATH_H_

#include <absl/status/status.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

// Folders of this user, the best first: the server takes the first that it can use, and commands
// look into all. `runtime_folder`: XDG_RUNTIME_DIR; empty: it is not set.
std::vector<std::string> OwnerSocketFolders(const std::string& runtime_folder, uid_t user);
// Those of this process.
std::vector<std::string> OwnerSocketFolders();
// The name of the socket in such a folder, for a server with this port of HTTP.
std::string OwnerSocketName(uint16_t http_port);

// Whether `folder` is one into which nobody but `user` can put a file: FAILED_PRECONDITION or
// NOT_FOUND.
absl::Status CheckOwnerFolder(const std::string& folder, uid_t user);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OWNER_SOCKET_PATH_H_
