// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/method_groups.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "public/grpc_service.pb.h"

namespace nereid {
namespace {

// A method without a group would be open to everybody.
TEST(MethodGroupsTest, EachMethodOfTheServiceHasAGroup) {
  const google::protobuf::ServiceDescriptor* const service =
      ::inference::ModelInferRequest::descriptor()->file()->FindServiceByName(
          "GRPCInferenceService");
  ASSERT_NE(service, nullptr);
  ASSERT_GT(service->method_count(), 0);
  for (int i = 0; i < service->method_count(); ++i) {
    const std::string name =
        absl::StrCat("/", service->full_name(), "/", service->method(i)->name());
    EXPECT_TRUE(GroupOfMethod(name).has_value()) << name;
  }
}

TEST(MethodGroupsTest, Groups) {
  EXPECT_EQ(GroupOfMethod("/inference.GRPCInferenceService/ModelInfer"), ApiGroup::kInference);
  EXPECT_EQ(GroupOfMethod("/inference.GRPCInferenceService/ModelConfig"), ApiGroup::kModelConfig);
  EXPECT_EQ(GroupOfMethod("/grpc.health.v1.Health/Check"), ApiGroup::kHealth);
  EXPECT_EQ(GroupOfMethod("/grpc.health.v1.Health/Watch"), ApiGroup::kHealth);
  EXPECT_EQ(GroupOfMethod("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"),
            ApiGroup::kMetadata);
  EXPECT_EQ(GroupOfMethod("/inference.GRPCInferenceService/Nothing"), std::nullopt);
  EXPECT_EQ(GroupOfMethod("/other.Service/ModelInfer"), std::nullopt);
}

}  // namespace
}  // namespace nereid
