// Reads the help text of a command, which is written by hand, back into its parts. The text has
// this form, and the tests of usage_text hold every command to it:
//
//   Usage: nereid NAME [options] DIR...
//
//   Paragraphs that say what the command does.
//
//     --option=VALUE, --other      what it is for, from a column of its own,
//                                  over several lines
//
//   Exit status: 0: ...; 1: ...
#ifndef NEREID_APPS_NEREID_DOCUMENTS_USAGE_TEXT_H_
#define NEREID_APPS_NEREID_DOCUMENTS_USAGE_TEXT_H_

#include <absl/strings/string_view.h>

#include <string>
#include <vector>

namespace nereid {

struct UsageOption {
  std::vector<std::string> spellings;  // "--option=VALUE"
  std::string help;                    // on one line
};

struct UsageText {
  std::string synopsis;                 // behind "Usage: "
  std::vector<std::string> paragraphs;  // each on one line
  std::vector<UsageOption> options;
  std::string exit_status;  // behind "Exit status: ", on one line; empty: not said
};

// Whatever has none of these forms is taken for a paragraph.
UsageText ParseUsage(absl::string_view usage);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_DOCUMENTS_USAGE_TEXT_H_
