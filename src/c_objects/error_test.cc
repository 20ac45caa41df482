// SPDX-License-Identifier: Apache-2.0
#include "c_objects/error.h"

#include <absl/strings/match.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace nereid {
namespace {

struct Row {
  absl::StatusCode status;
  TRITONSERVER_Error_Code code;
  const char* text;
};

constexpr Row kRows[] = {
    {absl::StatusCode::kUnknown, TRITONSERVER_ERROR_UNKNOWN, "Unknown"},
    {absl::StatusCode::kInternal, TRITONSERVER_ERROR_INTERNAL, "Internal"},
    {absl::StatusCode::kNotFound, TRITONSERVER_ERROR_NOT_FOUND, "Not found"},
    {absl::StatusCode::kInvalidArgument, TRITONSERVER_ERROR_INVALID_ARG, "Invalid argument"},
    {absl::StatusCode::kUnavailable, TRITONSERVER_ERROR_UNAVAILABLE, "Unavailable"},
    {absl::StatusCode::kUnimplemented, TRITONSERVER_ERROR_UNSUPPORTED, "Unsupported"},
    {absl::StatusCode::kAlreadyExists, TRITONSERVER_ERROR_ALREADY_EXISTS, "Already exists"},
    {absl::StatusCode::kCancelled, TRITONSERVER_ERROR_CANCELLED, "<invalid code>"},
};

TEST(CErrorTest, EveryCodeGoesThereAndBack) {
  for (const Row& row : kRows) {
    TRITONSERVER_Error* const error = ToCError(absl::Status(row.status, "text"));
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(TRITONSERVER_ErrorCode(error), row.code);
    EXPECT_STREQ(TRITONSERVER_ErrorCodeString(error), row.text);
    EXPECT_STREQ(TRITONSERVER_ErrorMessage(error), "text");
    EXPECT_EQ(FromCError(error), absl::Status(row.status, "text"));
    EXPECT_EQ(TakeCError(error), absl::Status(row.status, "text"));  // and deletes it
  }
}

TEST(CErrorTest, SuccessIsNull) {
  EXPECT_EQ(ToCError(absl::OkStatus()), nullptr);
  EXPECT_TRUE(FromCError(nullptr).ok());
  EXPECT_TRUE(TakeCError(nullptr).ok());
}

TEST(CErrorTest, CodesThatTheInterfaceDoesNotHaveAreUnknown) {
  TRITONSERVER_Error* const error = ToCError(absl::DataLossError("text"));
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_UNKNOWN);
  TRITONSERVER_ErrorDelete(error);
}

TEST(CErrorTest, AMessageMayBeMissing) {
  EXPECT_EQ(TakeCError(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, nullptr)),
            absl::InternalError(""));
}

// The error that an exported function returns for an exception `e` in its body.
template <typename Exception>
absl::Status Caught(const Exception& e) {
  try {
    throw e;
  } catch (...) {
    return TakeCError(CaughtError());
  }
}

TEST(CErrorTest, ExceptionsBecomeErrors) {
  EXPECT_EQ(Caught(std::bad_alloc()), absl::UnavailableError("out of memory"));
  EXPECT_EQ(Caught(std::runtime_error("no luck")),
            absl::InternalError("the call ended with an exception: no luck"));
  EXPECT_EQ(Caught(7), absl::InternalError("the call ended with an unknown exception"));
  const std::system_error refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(Caught(refused).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(
      absl::StartsWith(Caught(refused).message(), "the system refused what the call needs:"))
      << Caught(refused);
}

// All callers share this error, so deleting it must not free it.
TEST(CErrorTest, TheErrorOfLackOfMemoryMayBeDeletedByEverybody) {
  for (int i = 0; i < 3; ++i) {
    try {
      throw std::bad_alloc();
    } catch (...) {
      TRITONSERVER_Error* const error = CaughtError();
      EXPECT_STREQ(TRITONSERVER_ErrorMessage(error), "out of memory");
      TRITONSERVER_ErrorDelete(error);
    }
  }
}

}  // namespace
}  // namespace nereid
