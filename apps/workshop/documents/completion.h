// SPDX-License-Identifier: Apache-2.0
// Completions of the command line for shells. Pure functions. Each returns a script that works as a
// file of the shell's folder for completions, and when it is sourced.
#ifndef NEREID_APPS_WORKSHOP_DOCUMENTS_COMPLETION_H_
#define NEREID_APPS_WORKSHOP_DOCUMENTS_COMPLETION_H_

#include <string>

#include "documents/program_text.h"

namespace nereid {

std::string BashCompletion(const ProgramText& program);
std::string ZshCompletion(const ProgramText& program);
std::string FishCompletion(const ProgramText& program);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_DOCUMENTS_COMPLETION_H_
