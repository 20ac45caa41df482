// SPDX-License-Identifier: Apache-2.0
// `nereid capacity`: how many nodes a load needs.
#ifndef NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_COMMAND_H_
#define NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

// `args`: the arguments after "capacity". Writes the result to `out`, errors to `err`. Returns the
// exit status.
int CapacityCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_COMMAND_H_
