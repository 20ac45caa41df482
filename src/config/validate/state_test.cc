// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kField[] = "sequence_batching.state[0]";

// What is wrong with the states of a model that has an input X and a control C.
std::vector<std::string> StateProblems(const std::string& states) {
  return ProblemsOf(
      CheckStates,
      "name: 'm' input { name: 'X' } sequence_batching { control_input { name: 'C' } " + states +
          " }");
}

// The problems of one INT32 state with dims [ 2, -1 ] and the fields in `rest`.
std::vector<std::string> OfState(const std::string& rest) {
  return StateProblems(
      "state { input_name: 'I' output_name: 'O' data_type: TYPE_INT32 dims: [ 2, -1 ] " + rest +
      " }");
}

std::vector<std::string> OfInitial(const std::string& initial) {
  return OfState("initial_state { " + initial + " }");
}

std::string At(const std::string& place, const std::string& text) {
  return kField + place + ": " + text;
}

TEST(CheckStatesTest, AcceptsGoodOnesAndNone) {
  EXPECT_THAT(StateProblems(""), IsEmpty());
  EXPECT_THAT(OfState(""), IsEmpty());
  EXPECT_THAT(OfState("use_same_buffer_for_input_output: true"), IsEmpty());
  EXPECT_THAT(OfInitial("name: 'n' data_type: TYPE_INT32 dims: [ 2, 3 ] zero_data: false"),
              IsEmpty());
  EXPECT_THAT(OfInitial("name: 'n' data_type: TYPE_INT32 dims: [ 2, 3 ] data_file: 'f'"),
              IsEmpty());
  EXPECT_THAT(StateProblems("state { input_name: 'I' output_name: 'X' data_type: TYPE_STRING }"),
              IsEmpty());
}

TEST(CheckStatesTest, Tensors) {
  EXPECT_THAT(StateProblems("state { dims: [ 0 ] }"),
              ElementsAre(At(".input_name", "state must have an 'input_name' for m"),
                          At(".output_name", "state must have an 'output_name' for m"),
                          At(".data_type", "state '' must specify 'data_type' for m"),
                          At(".dims", "state '' has dimensions that can not be for m")));
  EXPECT_THAT(
      StateProblems("state { input_name: 'X' output_name: 'O' data_type: TYPE_INT8 } "
                    "state { input_name: 'C' output_name: 'O' data_type: TYPE_INT8 "
                    "dims: [ 4294967296, 4294967296 ] }"),
      ElementsAre(At(".input_name", "state input name 'X' is also the name of another input for m"),
                  "sequence_batching.state[1].input_name: state input name 'C' is also the name of "
                  "another input for m",
                  "sequence_batching.state[1].dims: state 'C' has dimensions that can not be for m",
                  "sequence_batching.state[1].output_name: State output name 'O' specified more "
                  "than once."));
  EXPECT_THAT(StateProblems("state { input_name: 'I' output_name: 'O' data_type: TYPE_INT8 } "
                            "state { input_name: 'I' output_name: 'P' data_type: TYPE_INT8 }"),
              ElementsAre("sequence_batching.state[1].input_name: State input name 'I' specified "
                          "more than once."));
}

TEST(CheckStatesTest, InitialState) {
  EXPECT_THAT(OfState("initial_state { } initial_state { }"),
              ElementsAre(At(".initial_state",
                             "initial_state field for state input 'I' must contain exactly one or "
                             "zero element. Found '2' elements.")));
  EXPECT_THAT(
      OfInitial("data_type: TYPE_FP32 dims: [ 2 ]"),
      ElementsAre(
          At(".initial_state[0].name",
             "Field 'name' must be set when using initial_state for state input 'I'."),
          At(".initial_state[0].data_type",
             "The data type used for 'initial_state' field of state 'I' does not match the state "
             "data type."),
          At(".initial_state[0].dims",
             "Number of dimensions in 'initial_state' doesn't match the size of 'state' dimensions "
             "for state input 'I'. 1 != 2"),
          At(".initial_state[0]",
             "initial_state setting expects state'I' to have state_data set")));
}

TEST(CheckStatesTest, InitialDims) {
  const auto of_dims = [](const std::string& dims) {
    return OfInitial("name: 'n' data_type: TYPE_INT32 zero_data: true dims: " + dims);
  };
  EXPECT_THAT(of_dims("[ 2, -1 ]"),
              ElementsAre(At(".initial_state[0].dims",
                             "'initial_state' field for state input name 'I' contains variable "
                             "dimensions.")));
  EXPECT_THAT(of_dims("[ 3, 1 ]"),
              ElementsAre(At(".initial_state[0].dims",
                             "'initial_state' dim for input name 'I' doesn't match 'state' dim "
                             "description. 3 != 2")));
  EXPECT_THAT(of_dims("[ 2, 0 ]"),
              ElementsAre(At(".initial_state[0].dims",
                             "'initial_state' dim for input name 'I' doesn't match 'state' dim "
                             "description. 0 != -1")));
  EXPECT_THAT(of_dims("[ 2, 4611686018427387904 ]"),
              ElementsAre(At(".initial_state[0].dims",
                             "'initial_state' for state input 'I' is too large for m")));
}

TEST(CheckStatesTest, GrowableMemory) {
  EXPECT_THAT(OfState("use_growable_memory: true"),
              ElementsAre(At(".use_growable_memory",
                             "In order to 'use_growable_memory', you must also enable "
                             "'use_single_buffer' for state input name 'I'.")));
  EXPECT_THAT(OfState("use_growable_memory: true use_same_buffer_for_input_output: true"),
              IsEmpty());
}

TEST(CheckStatesTest, GrowableMemoryNeedsGpus) {
  const auto of_groups = [](const std::string& groups) {
    return ProblemsOf(CheckGrowableStates,
                      "name: 'm' sequence_batching { state { input_name: 'I' "
                      "use_same_buffer_for_input_output: true use_growable_memory: true } "
                      "state { input_name: 'J' } } " +
                          groups);
  };
  const std::string on_gpu = "instance_group { name: 'a' kind: KIND_GPU gpus: [ 0 ] } ";
  EXPECT_THAT(of_groups(on_gpu), IsEmpty());
  EXPECT_THAT(of_groups(on_gpu + "instance_group { name: 'b' kind: KIND_MODEL }"),
              ElementsAre(At(".use_growable_memory",
                             "'use_growable_memory' can only work with KIND_GPU model instances "
                             "right now. Please either change the instance type to KIND_GPU or set "
                             "'use_growable_memory' to false for state input 'I'.")));
}

}  // namespace
}  // namespace nereid
