// SPDX-License-Identifier: Apache-2.0
// Status objects for use when memory may be exhausted. Thread-safe.
#ifndef NEREID_BASE_CAUGHT_H_
#define NEREID_BASE_CAUGHT_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <exception>
#include <new>

namespace nereid {

// A status that can always be made. When memory is exhausted it has no text.
inline absl::Status SureStatus(absl::StatusCode code, absl::string_view text) noexcept try {
  return absl::Status(code, text);
} catch (const std::bad_alloc&) {
  return absl::Status(code, "");
}

// UNAVAILABLE.
inline absl::Status OutOfMemory() noexcept {
  return SureStatus(absl::StatusCode::kUnavailable, "out of memory");
}

// The status for the exception being handled: UNAVAILABLE if memory is exhausted, otherwise
// INTERNAL. REQUIRES: called inside a catch block.
inline absl::Status CaughtStatus() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("out of resources: ", e.what()));
    } catch (...) {
      return absl::InternalError("an unknown exception");
    }
  } catch (...) {
    return OutOfMemory();
  }
}

}  // namespace nereid

#endif  // NEREID_BASE_CAUGHT_H_
