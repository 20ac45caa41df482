// SPDX-License-Identifier: Apache-2.0
// Sentences about reasons of batches and phases of requests. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_EXPLAIN_SENTENCES_H_
#define NEREID_APPS_WORKSHOP_EXPLAIN_SENTENCES_H_

#include <absl/strings/string_view.h>

namespace nereid {

// Why a batch left the queue: "because ..."; empty for an unknown reason.
absl::string_view BecauseOf(absl::string_view reason);
// What an operator can do about batches that mostly leave for `reason`; may be empty.
absl::string_view AdviceOnReason(absl::string_view reason);
// What a request does in `phase`: "waiting in the queue ..."; the name for an unknown phase.
absl::string_view DoingIn(absl::string_view phase);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_EXPLAIN_SENTENCES_H_
