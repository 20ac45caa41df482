// SPDX-License-Identifier: Apache-2.0
#include "infer/flight.h"

#include <gtest/gtest.h>

#include <thread>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

class OnlyResponseTest : public ::testing::Test {
 protected:
  std::unique_ptr<InferResponse> Response(absl::Status status = absl::OkStatus()) {
    auto response = std::make_unique<InferResponse>(nullptr, model_, "id", &allocator_, nullptr);
    response->set_status(std::move(status));
    return response;
  }

  const HeapOutputAllocator allocator_{nullptr};
  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(ModelBuilder("m"));
  OnlyResponse only_;
};

TEST_F(OnlyResponseTest, IsTheResponseThatComesWithTheEnd) {
  std::unique_ptr<InferResponse> response = Response();
  const InferResponse* const same = response.get();
  ASSERT_TRUE(only_.Add(std::move(response), /*is_final=*/true));
  EXPECT_EQ(only_.first(), same);
  const absl::StatusOr<std::unique_ptr<InferResponse>> taken = only_.Take();
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken->get(), same);
  EXPECT_EQ(only_.count(), 1u);
  EXPECT_EQ(only_.first(), nullptr);
}

TEST_F(OnlyResponseTest, MayComeBeforeTheEnd) {
  EXPECT_FALSE(only_.Add(Response(), /*is_final=*/false));
  EXPECT_FALSE(only_.Add(nullptr, /*is_final=*/false));
  ASSERT_TRUE(only_.Add(nullptr, /*is_final=*/true));
  EXPECT_TRUE(only_.Take().ok());
}

TEST_F(OnlyResponseTest, GivesItsError) {
  ASSERT_TRUE(only_.Add(Response(absl::UnavailableError("no")), /*is_final=*/true));
  EXPECT_EQ(only_.Take().status(), absl::UnavailableError("no"));
}

TEST_F(OnlyResponseTest, NoneIsAnError) {
  ASSERT_TRUE(only_.Add(nullptr, /*is_final=*/true));
  EXPECT_EQ(only_.first(), nullptr);
  EXPECT_EQ(only_.Take().status(), absl::InternalError("expected a single response, got 0"));
}

TEST_F(OnlyResponseTest, AndSoAreTwoWhereTheFirstIsKept) {
  std::unique_ptr<InferResponse> first = Response(absl::NotFoundError("first"));
  EXPECT_FALSE(only_.Add(std::move(first), /*is_final=*/false));
  ASSERT_TRUE(only_.Add(Response(), /*is_final=*/true));
  EXPECT_EQ(only_.first()->status(), absl::NotFoundError("first"));
  EXPECT_EQ(only_.Take().status(), absl::InternalError("expected a single response, got 2"));
}

TEST_F(OnlyResponseTest, SeveralThreadsMayAdd) {
  std::thread other([this] { EXPECT_FALSE(only_.Add(Response(), /*is_final=*/false)); });
  EXPECT_FALSE(only_.Add(Response(), /*is_final=*/false));
  other.join();
  ASSERT_TRUE(only_.Add(nullptr, /*is_final=*/true));
  EXPECT_EQ(only_.count(), 2u);
  EXPECT_NE(only_.first(), nullptr);
}

}  // namespace
}  // namespace nereid
