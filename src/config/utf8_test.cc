#include "config/utf8.h"

#include <gtest/gtest.h>

#include "model_config.pb.h"

namespace nereid {
namespace {

TEST(Utf8Test, WellFormedTexts) {
  for (const char* text : {"", "ascii", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
  EXPECT_TRUE(IsValidUtf8(absl::string_view("\0", 1)));
}

TEST(Utf8Test, IllFormedTexts) {
  for (const char* text :
       {"\x80", "a\xFF", "\xC3", "\xC3(", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
        "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(IsValidUtf8(text)) << text;
  }
}

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
