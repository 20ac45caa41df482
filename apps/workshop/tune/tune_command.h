// SPDX-License-Identifier: Apache-2.0
// `nereid tune`: finds the best instance count, batching and threads of a model, or of the models
// of an ensemble.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TUNE_COMMAND_H_
#define NEREID_APPS_WORKSHOP_TUNE_TUNE_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

// `args`: the arguments after "tune"; `nereid`: the program that serves what is measured. Writes
// the result to `out`, errors and progress to `err`. Returns the exit status. Catches SIGINT and
// SIGTERM for as long as it runs.
int TuneCommand(const std::vector<std::string>& args, const std::string& nereid, std::ostream& out,
                std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TUNE_COMMAND_H_
