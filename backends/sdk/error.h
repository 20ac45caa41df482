// SPDX-License-Identifier: Apache-2.0
// Error and Result: how backend code reports failure. An Error owns at most one TRITONSERVER_Error
// and passes ownership to the server at the C boundary. Values; thread-compatible.
#ifndef NEREID_BACKENDS_SDK_ERROR_H_
#define NEREID_BACKENDS_SDK_ERROR_H_

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "triton/core/tritonserver.h"

namespace nereid_backend {

// Joins anything that has an operator<< into one string: StrCat("got ", 3).
template <typename... Args>
std::string StrCat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

// Success when empty. Move-only: an error has one owner.
class [[nodiscard]] Error {
 public:
  Error() = default;
  Error(TRITONSERVER_Error_Code code, const std::string& message)
      : error_(TRITONSERVER_ErrorNew(code, message.c_str())) {}
  // Takes ownership of `error`, which may be null (success).
  explicit Error(TRITONSERVER_Error* error) : error_(error) {}
  Error(Error&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  Error& operator=(Error&& other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~Error() {
    if (error_ != nullptr) TRITONSERVER_ErrorDelete(error_);
  }

  static Error Internal(const std::string& message) {
    return Error(TRITONSERVER_ERROR_INTERNAL, message);
  }
  static Error InvalidArg(const std::string& message) {
    return Error(TRITONSERVER_ERROR_INVALID_ARG, message);
  }
  static Error NotFound(const std::string& message) {
    return Error(TRITONSERVER_ERROR_NOT_FOUND, message);
  }
  static Error Unsupported(const std::string& message) {
    return Error(TRITONSERVER_ERROR_UNSUPPORTED, message);
  }

  bool ok() const { return error_ == nullptr; }
  // REQUIRES (both): !ok().
  TRITONSERVER_Error_Code code() const { return TRITONSERVER_ErrorCode(error_); }
  const char* message() const { return TRITONSERVER_ErrorMessage(error_); }

  // The C object, still owned by this object; null if ok().
  TRITONSERVER_Error* get() const { return error_; }
  // Passes on ownership of the C object; this object becomes ok().
  TRITONSERVER_Error* release() { return std::exchange(error_, nullptr); }

 private:
  TRITONSERVER_Error* error_ = nullptr;
};

// A T or the Error that prevented it.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  Error& error() { return error_; }
  // Passes on ownership of the error. REQUIRES: !ok().
  Error TakeError() { return std::move(error_); }

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace nereid_backend

// Returns from the enclosing function (of type Error or Result) if `expr`, an Error or a
// TRITONSERVER_Error*, is a failure.
#define NB_RETURN_IF_ERROR(expr)             \
  do {                                       \
    ::nereid_backend::Error nb_error_{expr}; \
    if (!nb_error_.ok()) return nb_error_;   \
  } while (false)

#define NB_CONCAT_INNER_(a, b) a##b
#define NB_CONCAT_(a, b) NB_CONCAT_INNER_(a, b)
#define NB_ASSIGN_OR_RETURN_(result, lhs, expr) \
  auto result = (expr);                         \
  if (!result.ok()) return result.TakeError();  \
  lhs = std::move(*result)

// Declares or assigns `lhs` from the Result `expr`, or returns its Error.
#define NB_ASSIGN_OR_RETURN(lhs, expr) \
  NB_ASSIGN_OR_RETURN_(NB_CONCAT_(nb_result_, __LINE__), lhs, expr)

#endif  // NEREID_BACKENDS_SDK_ERROR_H_
