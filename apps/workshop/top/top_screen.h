// SPDX-License-Identifier: Apache-2.0
// The view of `nereid top` in a terminal.
#ifndef NEREID_APPS_WORKSHOP_TOP_TOP_SCREEN_H_
#define NEREID_APPS_WORKSHOP_TOP_TOP_SCREEN_H_

#include <absl/status/status.h>

#include "base/clock.h"
#include "top/top_request.h"

namespace nereid {

// Shows the server in the terminal at the standard output until somebody ends it. Errors: the
// server does not want to tell, which nobody can change from here. A server that does not answer is
// asked again. Throws std::system_error if the process lacks file descriptors or threads.
absl::Status ShowTopScreen(const TopRequest& request, bool colour, const Clock& clock);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TOP_TOP_SCREEN_H_
