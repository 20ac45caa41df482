// SPDX-License-Identifier: Apache-2.0
// ErrorLedger: the error objects that the backend under check owns. Deleted ones are kept until the
// end, so that their addresses are not used again and a second deletion is seen. Thread-safe; one
// per process.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_ERROR_LEDGER_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_ERROR_LEDGER_H_

#include <map>
#include <string>

#include "base/mutex.h"
#include "triton/core/tritonserver.h"

namespace nereid {

class ErrorLedger {
 public:
  static ErrorLedger& Get();

  // `error` (may be null) belongs to the backend now; it comes from `function`. Returns `error`.
  TRITONSERVER_Error* Gives(const char* function, TRITONSERVER_Error* error)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The backend deletes `error`. True if the server has to free it now.
  bool Deletes(TRITONSERVER_Error* error) ABSL_LOCKS_EXCLUDED(mu_);
  // The backend's `function` returns `error`. The result is what the server gets.
  TRITONSERVER_Error* Returns(const char* function, TRITONSERVER_Error* error)
      ABSL_LOCKS_EXCLUDED(mu_);
  // After the last Finalize function.
  void CheckEnd() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    const char* from = "";
    std::string message;
    bool deleted = false;
  };

  Mutex mu_;
  std::map<TRITONSERVER_Error*, Entry> errors_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_ERROR_LEDGER_H_
