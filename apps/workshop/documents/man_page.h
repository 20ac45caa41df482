// SPDX-License-Identifier: Apache-2.0
// Manual pages in the language of man(7). Pure functions.
#ifndef NEREID_APPS_WORKSHOP_DOCUMENTS_MAN_PAGE_H_
#define NEREID_APPS_WORKSHOP_DOCUMENTS_MAN_PAGE_H_

#include <string>

#include "documents/program_text.h"

namespace nereid {

// nereid(1).
std::string ProgramManPage(const ProgramText& program);
// nereid-NAME(1) of a command.
std::string CommandManPage(const ProgramText& program, const CommandTable& command);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_DOCUMENTS_MAN_PAGE_H_
