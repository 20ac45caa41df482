// SPDX-License-Identifier: Apache-2.0
// What `nereid backend-check` can find: each kind of finding with the words that explain it.
// Immutable; shared by the command and by the process that it checks a backend in.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_FINDINGS_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_FINDINGS_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

namespace nereid {

struct FindingKind {
  const char* id;     // stable, for programs that read the report
  const char* what;   // one sentence: what the backend does
  const char* why;    // what comes of it
  const char* right;  // what would be right
};

absl::Span<const FindingKind> FindingKinds();
// Null if there is no kind with this id.
const FindingKind* FindFindingKind(absl::string_view id);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_FINDINGS_H_
