// SPDX-License-Identifier: Apache-2.0
// The workshop: a program of its own, beside the server's, with the commands that do not serve and
// that a server never needs (apps/workshop).
#ifndef NEREID_APPS_NEREID_WORKSHOP_H_
#define NEREID_APPS_NEREID_WORKSHOP_H_

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

// The workshop's program in the installation to which the program `nereid` belongs. It need not
// exist.
std::filesystem::path WorkshopProgram(const std::filesystem::path& nereid);

// Puts `workshop` in the place of this process: with its descriptors, its environment and its
// process id. `nereid` is what the workshop sees as its own name, from which it finds the
// installation; `words`: a command and its arguments. Returns only if that cannot be done; says so
// on `err`, and returns the exit status.
int BecomeWorkshop(const std::filesystem::path& workshop, const std::filesystem::path& nereid,
                   const std::vector<std::string>& words, std::ostream& err);

// The same for this very program and its installation.
int RunInWorkshop(const std::vector<std::string>& words, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_WORKSHOP_H_
