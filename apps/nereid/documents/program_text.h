// ProgramText: what the documents about the program are made from. Plain values.
#ifndef NEREID_APPS_NEREID_DOCUMENTS_PROGRAM_TEXT_H_
#define NEREID_APPS_NEREID_DOCUMENTS_PROGRAM_TEXT_H_

#include <string>
#include <vector>

#include "flags/flag.h"

namespace nereid {

struct CommandText {
  std::string name;
  std::string summary;  // begins with a verb, without a full stop
  std::string usage;    // what its --help prints; see usage_text.h
};

struct ProgramText {
  std::string version;
  std::vector<FlagGroup> options;
  std::vector<CommandText> commands;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_DOCUMENTS_PROGRAM_TEXT_H_
