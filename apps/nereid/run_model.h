// SPDX-License-Identifier: Apache-2.0
// `nereid run-model DIR`: loads one model and tries it, without opening a port.
#ifndef NEREID_APPS_NEREID_RUN_MODEL_H_
#define NEREID_APPS_NEREID_RUN_MODEL_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "options/command_table.h"
#include "settings.h"

namespace nereid {

CommandTable RunModelTable();

// `args`: the arguments after "run-model"; `settings`: those of a server of this installation.
// Writes the model's answers to standard output, after what is in `out`, and errors to `err`; the
// log goes to standard error. Exit status: 0: all requests were answered; 1: the model does not
// load, or an answer is an error; 2: wrong arguments.
int RunModelCommand(const std::vector<std::string>& args, Settings settings, std::ostream& out,
                    std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_RUN_MODEL_H_
