#include "frontends/grpc/status_map.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace nereid {
namespace {

TEST(StatusMap, EachCodeOfTheCore) {
  const std::vector<std::pair<absl::StatusCode, int>> cases = {
      {absl::StatusCode::kUnknown, 2},       {absl::StatusCode::kInternal, 13},
      {absl::StatusCode::kNotFound, 5},      {absl::StatusCode::kInvalidArgument, 3},
      {absl::StatusCode::kUnavailable, 14},  {absl::StatusCode::kUnimplemented, 12},
      {absl::StatusCode::kAlreadyExists, 6}, {absl::StatusCode::kCancelled, 1},
  };
  for (const auto& [code, wire] : cases) {
    const grpc::Status status = ToGrpcStatus(absl::Status(code, "the text, unchanged "));
    EXPECT_EQ(static_cast<int>(status.error_code()), wire);
    EXPECT_EQ(status.error_message(), "the text, unchanged ");
  }
}

TEST(StatusMap, Ok) { EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok()); }

TEST(StatusMap, CodesThatTheCoreDoesNotUse) {
  EXPECT_EQ(ToGrpcStatus(absl::DataLossError("x")).error_code(), grpc::StatusCode::UNKNOWN);
}

}  // namespace
}  // namespace nereid
