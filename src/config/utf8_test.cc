// SPDX-License-Identifier: Apache-2.0
#include "config/utf8.h"

#include <gtest/gtest.h>

#include "model_config.pb.h"

namespace nereid {
namespace {

TEST(Utf8Test, FindsTheField) {
  inference::ModelConfig config;
  config.set_name("m");
  config.add_input()->set_name("I");
  (*config.mutable_parameters())["k"].set_string_value("v");
  EXPECT_EQ(FindFieldWithInvalidUtf8(config), "");

  inference::ModelConfig in_map = config;
  (*in_map.mutable_parameters())["k"].set_string_value("\xFF");
  EXPECT_EQ(FindFieldWithInvalidUtf8(in_map), "parameters.value.string_value");
  inference::ModelConfig in_list = config;
  in_list.mutable_input(0)->set_name("\xFF");
  EXPECT_EQ(FindFieldWithInvalidUtf8(in_list), "input.name");
  inference::ModelConfig in_strings = config;
  in_strings.add_instance_group()->add_profile("\xFF");
  EXPECT_EQ(FindFieldWithInvalidUtf8(in_strings), "instance_group.profile");
}

}  // namespace
}  // namespace nereid
