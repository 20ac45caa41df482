// SPDX-License-Identifier: Apache-2.0
// "did you mean ...?" for misspelt names. Pure functions.
#ifndef NEREID_CONFIG_NEAREST_NAME_H_
#define NEREID_CONFIG_NEAREST_NAME_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <string>

#include "base/export.h"

namespace nereid {

// The candidate with the fewest single-character edits to `name`, ignoring case; the first one if
// several are equally near. If a third or more of the longer name would have to change, the first
// candidate that begins with `name`; otherwise nothing, because no advice is better than bad
// advice.
NEREID_API std::string NearestName(absl::string_view name,
                                   absl::Span<const std::string> candidates);

}  // namespace nereid

#endif  // NEREID_CONFIG_NEAREST_NAME_H_
