#include "c_objects/error.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace nereid
