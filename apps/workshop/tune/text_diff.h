// SPDX-License-Identifier: Apache-2.0
// Differences of two short texts, line by line. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TEXT_DIFF_H_
#define NEREID_APPS_WORKSHOP_TUNE_TEXT_DIFF_H_

#include <absl/strings/string_view.h>

#include <string>

namespace nereid {

// The lines of both, those that only `before` has with "-", those that only `after` has with "+",
// others with " " if they are near one of these. Empty if the texts are equal.
std::string TextDiff(absl::string_view before, absl::string_view after);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TEXT_DIFF_H_
