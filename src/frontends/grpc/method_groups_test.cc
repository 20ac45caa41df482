// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/method_groups.h"

#include <gtest/gtest.h>

#include "frontends/grpc/testing/methods.h"

namespace nereid {
namespace {

// A method without a group would be open to everybody.
TEST(MethodGroupsTest, EachMethodOfTheServicesHasAGroup) {
  ASSERT_FALSE(AllMethods().empty());
  for (const google::protobuf::MethodDescriptor* method : AllMethods()) {
    EXPECT_TRUE(GroupOfMethod(PathOf(*method)).has_value()) << PathOf(*method);
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
  EXPECT_EQ(GroupOfMethod("/tensorflow.serving.PredictionService/Predict"), ApiGroup::kInference);
  EXPECT_EQ(GroupOfMethod("/tensorflow.serving.ModelService/GetModelStatus"), ApiGroup::kMetadata);
  EXPECT_EQ(GroupOfMethod("/tensorflow.serving.ModelService/Nothing"), std::nullopt);
  EXPECT_EQ(GroupOfMethod("/other.Service/ModelInfer"), std::nullopt);
}

}  // namespace
}  // namespace nereid
