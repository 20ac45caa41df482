// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/grpc_code.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

constexpr int kOfCore[17] = {
    0,                       // OK
    1,                       // CANCELLED
    2,  3,  2,               // UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED
    5,  6,  2,  2, 2, 2, 2,  // NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED to OUT_OF_RANGE
    12, 13, 14,              // UNIMPLEMENTED, INTERNAL, UNAVAILABLE
    2,  2,                   // DATA_LOSS, UNAUTHENTICATED
};

TEST(GrpcCodeTest, CodesOfTheCore) {
  for (int code = 0; code < 17; ++code) {
    const auto of_core = GrpcCodeOfCore(static_cast<absl::StatusCode>(code));
    EXPECT_EQ(static_cast<int>(of_core), kOfCore[code]) << code;
  }
  EXPECT_EQ(GrpcCodeOfCore(static_cast<absl::StatusCode>(99)), GrpcCode::kUnknown);
}

TEST(GrpcCodeTest, CodesOfTheTransport) {
  for (int code = 0; code < 17; ++code) {
    // DEADLINE_EXCEEDED, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAUTHENTICATED
    const bool own = code == 4 || code == 7 || code == 8 || code == 16;
    const auto of_transport = GrpcCodeOfTransport(static_cast<absl::StatusCode>(code));
    EXPECT_EQ(static_cast<int>(of_transport), own ? code : kOfCore[code]) << code;
  }
}

}  // namespace
}  // namespace nereid
