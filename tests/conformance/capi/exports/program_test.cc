// SPDX-License-Identifier: Apache-2.0
// A program that holds the classes of the public .proto files itself, and exports them, as one that
// serves gRPC by itself and runs plug-ins does.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "public/grpc_service.pb.h"
#include "tests/conformance/capi/harness.h"
#include "triton/core/tritonserver.h"

namespace nereid_test {
namespace {

TEST(ProgramWithMessagesTest, ItsClassesAndTheServerWorkSideBySide) {
  inference::ModelConfig own;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString("name: 'own' max_batch_size: 3", &own));
  Repository repository;
  repository.AddModel("echo", IdentityConfig());
  const TestServer server(repository);
  TRITONSERVER_Message* config = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelConfig(server.get(), "echo", 1, 1, &config)));
  EXPECT_NE(TakeJson(config).find("\"max_batch_size\":8"), std::string::npos);
  EXPECT_EQ(own.max_batch_size(), 3);
  own.Clear();
  EXPECT_EQ(own.name(), "");
  EXPECT_EQ(inference::ModelConfig::descriptor()->full_name(), "inference.ModelConfig");
}

}  // namespace
}  // namespace nereid_test
