// SPDX-License-Identifier: Apache-2.0
#include "c_objects/error.h"

#include <absl/strings/str_cat.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>

// Complete type behind the C API's opaque error. Immutable.
struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};

namespace nereid {
namespace {

TRITONSERVER_Error_Code ToCCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInternal:
      return TRITONSERVER_ERROR_INTERNAL;
    case absl::StatusCode::kNotFound:
      return TRITONSERVER_ERROR_NOT_FOUND;
    case absl::StatusCode::kInvalidArgument:
      return TRITONSERVER_ERROR_INVALID_ARG;
    case absl::StatusCode::kUnavailable:
      return TRITONSERVER_ERROR_UNAVAILABLE;
    case absl::StatusCode::kUnimplemented:
      return TRITONSERVER_ERROR_UNSUPPORTED;
    case absl::StatusCode::kAlreadyExists:
      return TRITONSERVER_ERROR_ALREADY_EXISTS;
    case absl::StatusCode::kCancelled:
      return TRITONSERVER_ERROR_CANCELLED;
    default:
      return TRITONSERVER_ERROR_UNKNOWN;
  }
}

absl::StatusCode FromCCode(TRITONSERVER_Error_Code code) {
  switch (code) {
    case TRITONSERVER_ERROR_INTERNAL:
      return absl::StatusCode::kInternal;
    case TRITONSERVER_ERROR_NOT_FOUND:
      return absl::StatusCode::kNotFound;
    case TRITONSERVER_ERROR_INVALID_ARG:
      return absl::StatusCode::kInvalidArgument;
    case TRITONSERVER_ERROR_UNAVAILABLE:
      return absl::StatusCode::kUnavailable;
    case TRITONSERVER_ERROR_UNSUPPORTED:
      return absl::StatusCode::kUnimplemented;
    case TRITONSERVER_ERROR_ALREADY_EXISTS:
      return absl::StatusCode::kAlreadyExists;
    case TRITONSERVER_ERROR_CANCELLED:
      return absl::StatusCode::kCancelled;
    case TRITONSERVER_ERROR_UNKNOWN:
      return absl::StatusCode::kUnknown;
  }
  return absl::StatusCode::kUnknown;
}

// The error that needs no memory, because its text is short enough for the string's own storage.
// All callers share it, and it is never freed.
TRITONSERVER_Error* OutOfMemory() noexcept {
  alignas(TRITONSERVER_Error) static char place[sizeof(TRITONSERVER_Error)];
  static TRITONSERVER_Error* const error =
      new (place) TRITONSERVER_Error{TRITONSERVER_ERROR_UNAVAILABLE, "out of memory"};
  return error;
}

TRITONSERVER_Error* NewError(TRITONSERVER_Error_Code code, absl::string_view message) noexcept {
  try {
    return new TRITONSERVER_Error{code, std::string(message)};
  } catch (...) {
    return OutOfMemory();
  }
}

void DeleteError(TRITONSERVER_Error* error) noexcept {
  if (error != OutOfMemory()) delete error;
}

struct ErrorDeleter {
  void operator()(TRITONSERVER_Error* error) const { DeleteError(error); }
};

}  // namespace

TRITONSERVER_Error* ToCError(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  return NewError(ToCCode(status.code()), status.message());
}

TRITONSERVER_Error* CaughtError() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::system_error& e) {
      return NewError(TRITONSERVER_ERROR_UNAVAILABLE,
                      absl::StrCat("the system refused what the call needs: ", e.what()));
    } catch (const std::exception& e) {
      return NewError(TRITONSERVER_ERROR_INTERNAL,
                      absl::StrCat("the call ended with an exception: ", e.what()));
    } catch (...) {
      return NewError(TRITONSERVER_ERROR_INTERNAL, "the call ended with an unknown exception");
    }
  } catch (...) {
    return OutOfMemory();
  }
}

absl::Status FromCError(TRITONSERVER_Error* error) {
  if (error == nullptr) return absl::OkStatus();
  return absl::Status(FromCCode(error->code), error->message);
}

absl::Status TakeCError(TRITONSERVER_Error* error) {
  const std::unique_ptr<TRITONSERVER_Error, ErrorDeleter> owned(error);
  return FromCError(error);
}

}  // namespace nereid

// The error functions are defined here, next to the type.
extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* msg) {
  return nereid::NewError(code, msg == nullptr ? "" : msg);
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { nereid::DeleteError(error); }

TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) { return error->code; }

const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error) {
  switch (error->code) {
    case TRITONSERVER_ERROR_UNKNOWN:
      return "Unknown";
    case TRITONSERVER_ERROR_INTERNAL:
      return "Internal";
    case TRITONSERVER_ERROR_NOT_FOUND:
      return "Not found";
    case TRITONSERVER_ERROR_INVALID_ARG:
      return "Invalid argument";
    case TRITONSERVER_ERROR_UNAVAILABLE:
      return "Unavailable";
    case TRITONSERVER_ERROR_UNSUPPORTED:
      return "Unsupported";
    case TRITONSERVER_ERROR_ALREADY_EXISTS:
      return "Already exists";
    case TRITONSERVER_ERROR_CANCELLED:
      break;  // Triton has no text for it either
  }
  return "<invalid code>";
}

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }

}  // extern "C"
