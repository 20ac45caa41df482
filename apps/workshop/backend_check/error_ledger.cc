// SPDX-License-Identifier: Apache-2.0
#include "backend_check/error_ledger.h"

#include <absl/strings/str_cat.h>

#include "backend_check/interposed.h"
#include "backend_check/recorder.h"

namespace nereid {

ErrorLedger& ErrorLedger::Get() {
  static ErrorLedger* const ledger = new ErrorLedger;  // used until the process has ended
  return *ledger;
}

TRITONSERVER_Error* ErrorLedger::Gives(const char* function, TRITONSERVER_Error* error) {
  if (error == nullptr) return nullptr;
  MutexLock lock(&mu_);
  errors_[error] = {function, TRITONSERVER_ErrorMessage(error), false};
  return error;
}

bool ErrorLedger::Deletes(TRITONSERVER_Error* error) {
  MutexLock lock(&mu_);
  const auto found = errors_.find(error);
  if (found == errors_.end()) return true;  // from a function that is not looked at
  if (found->second.deleted) {
    Recorder::Get().Found("error-deleted-twice",
                          absl::StrCat("'", found->second.message, "', from ", found->second.from));
  }
  found->second.deleted = true;
  return false;
}

TRITONSERVER_Error* ErrorLedger::Returns(const char* function, TRITONSERVER_Error* error) {
  if (error == nullptr) return nullptr;
  MutexLock lock(&mu_);
  const auto found = errors_.find(error);
  if (found == errors_.end()) return error;
  if (!found->second.deleted) {
    errors_.erase(found);  // the server's from here on
    return error;
  }
  Recorder::Get().Found("returned-deleted-error",
                        absl::StrCat(function, " returned '", found->second.message, "'"));
  return NEREID_IN_SERVER(TRITONSERVER_ErrorNew)(TRITONSERVER_ERROR_INTERNAL,
                                                 found->second.message.c_str());
}

void ErrorLedger::CheckEnd() {
  MutexLock lock(&mu_);
  size_t left = 0;
  const Entry* first = nullptr;
  for (const auto& [error, entry] : errors_) {
    if (entry.deleted) continue;
    if (left++ == 0) first = &entry;
  }
  if (left == 0) return;
  Recorder::Get().Found("error-leaked", absl::StrCat(left, " at the end, one of them from ",
                                                     first->from, ": '", first->message, "'"));
}

}  // namespace nereid
