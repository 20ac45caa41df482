// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/echo.h"

#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

Result<EchoMap> EchoOf(const std::string& inputs, const std::string& outputs) {
  const Result<ModelConfig> config =
      ParseModelConfig("{\"name\":\"m\",\"input\":[" + inputs + "],\"output\":[" + outputs + "]}");
  EXPECT_TRUE(config.ok());
  return EchoMap::Build(*config);
}

std::string Tensor(const std::string& name, const std::string& type = "TYPE_FP32") {
  return "{\"name\":\"" + name + "\",\"data_type\":\"" + type + "\"}";
}

TEST(EchoMapTest, PairsByNameThenByPatternThenAlone) {
  const Result<EchoMap> map =
      EchoOf(Tensor("same") + "," + Tensor("INPUT_1"), Tensor("same") + "," + Tensor("OUTPUT_1"));
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->InputOf("same"), "same");
  EXPECT_EQ(map->InputOf("OUTPUT_1"), "INPUT_1");
  EXPECT_EQ(map->InputOf("none"), "");
  const Result<EchoMap> single = EchoOf(Tensor("x"), Tensor("y"));
  ASSERT_TRUE(single.ok());
  EXPECT_EQ(single->InputOf("y"), "x");
}

TEST(EchoMapTest, NoPartnerAndUnequalTypesAreErrors) {
  EXPECT_FALSE(EchoOf(Tensor("a") + "," + Tensor("b"), Tensor("c")).ok());
  EXPECT_FALSE(EchoOf(Tensor("x"), Tensor("x", "TYPE_INT32")).ok());
}

}  // namespace
}  // namespace nereid_backend
