// SPDX-License-Identifier: Apache-2.0
// What can stand in a command line, as the completions of all shells need it. Plain values, made
// from the tables of options and commands by pure functions.
#ifndef NEREID_APPS_WORKSHOP_DOCUMENTS_COMPLETED_WORDS_H_
#define NEREID_APPS_WORKSHOP_DOCUMENTS_COMPLETED_WORDS_H_

#include <string>
#include <vector>

#include "documents/program_text.h"

namespace nereid {

// What a shell offers for a value.
struct CompletedValue {
  enum class Kind { kNone, kAnything, kChoice, kFile, kFolder };
  Kind kind = Kind::kNone;
  std::vector<std::string> choices;  // of kChoice
};

struct CompletedOption {
  std::string name;  // without the dashes
  CompletedValue value;
  bool value_optional = false;
  bool repeated = false;
  std::string summary;  // the first sentence of its help, without the full stop
};

struct CompletedCommand {
  std::string name;
  std::string summary;
  std::vector<CompletedOption> options;
  CompletedValue argument;
};

std::vector<CompletedOption> CompletedOptions(const ProgramText& program);
std::vector<CompletedCommand> CompletedCommands(const ProgramText& program);

// `text` in single quotes, as bash, zsh and fish read it.
std::string Quoted(const std::string& text);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_DOCUMENTS_COMPLETED_WORDS_H_
