// SPDX-License-Identifier: Apache-2.0
// Calls an application's callbacks. They are C functions, but a callback written in C++ may throw.
// No exception may reach the core, where it would end the process or leave a request half done.
// Stateless, thread-safe.
#ifndef NEREID_C_API_CALLBACKS_H_
#define NEREID_C_API_CALLBACKS_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <exception>

#include "base/log.h"
#include "c_objects/error.h"

namespace nereid {

// Runs `call`, which returns nothing. An exception is logged, and the callback counts as completed:
// the application keeps what it was given.
template <typename Call>
void Notify(const char* callback, const Call& call) noexcept {
  try {
    call();
  } catch (const std::exception& e) {
    LOG_ERROR_SELDOM << "the " << callback << " callback threw an exception: " << e.what();
  } catch (...) {
    LOG_ERROR_SELDOM << "the " << callback << " callback threw an unknown exception";
  }
}

// Runs `call`, which returns TRITONSERVER_Error*. An exception becomes an INTERNAL error.
template <typename Call>
absl::Status Ask(const char* callback, const Call& call) {
  try {
    return TakeCError(call());
  } catch (const std::exception& e) {
    return absl::InternalError(
        absl::StrCat("the ", callback, " callback threw an exception: ", e.what()));
  } catch (...) {
    return absl::InternalError(
        absl::StrCat("the ", callback, " callback threw an unknown exception"));
  }
}

}  // namespace nereid

#endif  // NEREID_C_API_CALLBACKS_H_
