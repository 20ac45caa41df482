// SPDX-License-Identifier: Apache-2.0
// ProgramText: what the documents about the program are made from. Plain values.
#ifndef NEREID_APPS_WORKSHOP_DOCUMENTS_PROGRAM_TEXT_H_
#define NEREID_APPS_WORKSHOP_DOCUMENTS_PROGRAM_TEXT_H_

#include <string>
#include <vector>

#include "options/command_table.h"
#include "options/flag.h"

namespace nereid {

struct ProgramText {
  std::string version;
  std::vector<FlagGroup> options;
  std::vector<CommandTable> commands;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_DOCUMENTS_PROGRAM_TEXT_H_
