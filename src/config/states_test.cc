// SPDX-License-Identifier: Apache-2.0
#include "config/states.h"

#include <gtest/gtest.h>

#include <string>

#include "config/testing/config_text.h"
#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

StateSpec Compiled(const std::string& state, int max_batch_size = 4) {
  return ToStates(ConfigFromText("name: 'm' max_batch_size: " + std::to_string(max_batch_size) +
                                 " sequence_batching { state { input_name: 'I' output_name: 'O' " +
                                 state + " } }"))
      .at(0);
}

TEST(StatesTest, StartsWithOneWhereADimensionVaries) {
  const StateSpec spec = Compiled("data_type: TYPE_INT64 dims: [ 3, -1 ]");
  EXPECT_EQ(spec.input_name, "I");
  EXPECT_EQ(spec.output_name, "O");
  EXPECT_EQ(spec.data_type, DataType::kInt64);
  EXPECT_EQ(spec.dims, (Shape{3, kVariableDim}));
  EXPECT_EQ(spec.start_shape, (Shape{1, 3, 1}));
  EXPECT_EQ(spec.start_byte_size, 24u);
  EXPECT_FALSE(spec.same_buffer);
  EXPECT_EQ(spec.initial, InitialState::kUnset);
  EXPECT_EQ(Compiled("data_type: TYPE_INT64 dims: [ 3, -1 ]", 0).start_shape, (Shape{3, 1}));
  EXPECT_EQ(Compiled("data_type: TYPE_STRING dims: [ 3 ]").start_byte_size, 12u);
  EXPECT_TRUE(Compiled("use_same_buffer_for_input_output: true").same_buffer);
}

TEST(StatesTest, TheInitialStateSaysWhatTheShapeIs) {
  const StateSpec spec = Compiled(
      "data_type: TYPE_INT8 dims: [ 3, -1 ] initial_state { dims: [ 3, 5 ] zero_data: false }");
  EXPECT_EQ(spec.start_shape, (Shape{1, 3, 5}));
  EXPECT_EQ(spec.start_byte_size, 15u);
  EXPECT_EQ(spec.initial, InitialState::kZero);
}

class LoadInitialStatesTest : public ::testing::Test {
 protected:
  absl::Status Load(const std::string& file, const char* type = "TYPE_INT8") {
    model_.states = {Compiled(std::string("data_type: ") + type +
                              " dims: [ 4 ] initial_state { dims: [ 4 ] data_file: '" + file +
                              "' }")};
    return LoadInitialStates(fs_, "/models/m", &model_);
  }

  FakeFileSystem fs_;
  CompiledModel model_;
};

TEST_F(LoadInitialStatesTest, ReadsWhatTheStateNeeds) {
  fs_.WriteFile("/models/m/initial_state/f", "abcdef");
  ASSERT_EQ(Load("f"), absl::OkStatus());
  EXPECT_EQ(model_.states[0].initial_bytes, "abcd");
}

TEST_F(LoadInitialStatesTest, TextsAreReadAsTheyAre) {
  const std::string texts("\1\0\0\0x\0\0\0\0\0\0\0\0\0\0\0\0", 17);
  fs_.WriteFile("/models/m/initial_state/f", texts);
  ASSERT_EQ(Load("f", "TYPE_STRING"), absl::OkStatus());
  EXPECT_EQ(model_.states[0].initial_bytes, texts);
}

TEST_F(LoadInitialStatesTest, AFileThatIsTooShortIsAnError) {
  fs_.WriteFile("/models/m/initial_state/f", "abc");
  EXPECT_EQ(Load("f"),
            absl::InvalidArgumentError("initial_state setting expects 4 bytes, but the data "
                                       "provided from fonly has 3 bytes."));
}

TEST_F(LoadInitialStatesTest, AFileElsewhereOrMissingIsAnError) {
  EXPECT_EQ(Load("../config.pbtxt"),
            absl::InvalidArgumentError("initial state file '../config.pbtxt' of state 'I' is "
                                       "outside the model's folder 'initial_state'"));
  EXPECT_TRUE(absl::IsNotFound(Load("none")));
  fs_.WriteFile("/models/m/initial_state/f", "abcd");
  EXPECT_TRUE(Load("/f").ok()) << "a slash in front means the folder";
}

}  // namespace
}  // namespace nereid
