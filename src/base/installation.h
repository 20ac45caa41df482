// SPDX-License-Identifier: Apache-2.0
// Where an installation keeps what the server loads at run time: backends, response caches and
// repository agents. Found from the place of a program or library of that installation, so that it
// may be moved as a whole. Functions without state.
#ifndef NEREID_BASE_INSTALLATION_H_
#define NEREID_BASE_INSTALLATION_H_

#include <filesystem>
#include <string>

#include "base/export.h"

namespace nereid {

// The folder of all `kind`s ("backends", "caches", "repoagents") of the installation whose program
// or library is the file PREFIX/bin/x or PREFIX/lib/x: PREFIX/lib/nereid/KIND where packages and
// `make install` have put them, otherwise PREFIX/KIND. It need not exist.
NEREID_API std::filesystem::path InstalledFolder(const std::filesystem::path& file,
                                                 const std::string& kind);

// The library (or program) that holds this function, without symbolic links; empty if the system
// does not say.
std::filesystem::path OwnLibrary();

}  // namespace nereid

#endif  // NEREID_BASE_INSTALLATION_H_
