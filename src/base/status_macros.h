// SPDX-License-Identifier: Apache-2.0
// RETURN_IF_ERROR and ASSIGN_OR_RETURN for absl::Status and absl::StatusOr.
#ifndef NEREID_BASE_STATUS_MACROS_H_
#define NEREID_BASE_STATUS_MACROS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <utility>

#define NEREID_CONCAT_INNER(a, b) a##b
#define NEREID_CONCAT(a, b) NEREID_CONCAT_INNER(a, b)

// Returns the status of `expr` from the enclosing function unless it is OK.
#define RETURN_IF_ERROR(expr)                                         \
  do {                                                                \
    if (absl::Status nereid_status_ = (expr); !nereid_status_.ok()) { \
      return nereid_status_;                                          \
    }                                                                 \
  } while (false)

// Assigns the value of the StatusOr `expr` to `lhs`, or returns its status.
#define ASSIGN_OR_RETURN(lhs, expr) \
  NEREID_ASSIGN_OR_RETURN_INNER(NEREID_CONCAT(nereid_statusor_, __LINE__), lhs, expr)
#define NEREID_ASSIGN_OR_RETURN_INNER(var, lhs, expr) \
  auto var = (expr);                                  \
  if (!var.ok()) return std::move(var).status();      \
  lhs = *std::move(var)

#endif  // NEREID_BASE_STATUS_MACROS_H_
