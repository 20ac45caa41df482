// SPDX-License-Identifier: Apache-2.0
// Records in words. Pure functions. `colour`: with escape sequences for a terminal.
#ifndef NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_TEXT_H_
#define NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_TEXT_H_

#include <string>

#include "explain/records.h"

namespace nereid {

// Where the time of one request went, with whom it ran, and why then.
std::string ExplainRequestText(const ShownRequest& request, bool colour);
// How large a model's batches were, why they left the queue, and where the time of its requests
// went. REQUIRES: there is a request.
std::string ExplainModelText(const ShownTimeline& timeline, bool colour);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_TEXT_H_
