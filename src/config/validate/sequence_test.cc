// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> SequenceProblems(const std::string& batching) {
  return ProblemsOf(CheckSequenceBatching,
                    "name: 'm' max_batch_size: 8 sequence_batching { " + batching + " }");
}

TEST(CheckSequenceBatchingTest, AcceptsGoodOnesAndNone) {
  EXPECT_THAT(ProblemsOf(CheckSequenceBatching, "name: 'm'"), IsEmpty());
  EXPECT_THAT(
      SequenceProblems("direct { minimum_slot_utilization: 1 } "
                       "control_input { name: 'START' control { kind: CONTROL_SEQUENCE_START "
                       "fp32_false_true: [ 0, 1 ] } } "
                       "control_input { name: 'ID' control { kind: CONTROL_SEQUENCE_CORRID "
                       "data_type: TYPE_STRING } }"),
      IsEmpty());
}

TEST(CheckSequenceBatchingTest, ABatchingLibraryIsForOtherSchedulers) {
  const std::string library = " parameters { key: 'TRITON_BATCH_STRATEGY_PATH' value { } }";
  EXPECT_THAT(
      ProblemsOf(CheckSequenceBatching, "name: 'm' sequence_batching { }" + library),
      ElementsAre("parameters.TRITON_BATCH_STRATEGY_PATH: TRITON_BATCH_STRATEGY_PATH cannot "
                  "be specified with sequence batcher, using default batching strategy"));
  EXPECT_THAT(ProblemsOf(CheckSequenceBatching, "name: 'm' dynamic_batching { }" + library),
              IsEmpty());
}

TEST(CheckSequenceBatchingTest, ResponseCache) {
  EXPECT_THAT(ProblemsOf(CheckSequenceBatching,
                         "name: 'm' sequence_batching { } response_cache { enable: true }"),
              ElementsAre("response_cache.enable: Response Cache does not currently support model "
                          "m with sequence batching scheduler. Please disable the response "
                          "cache."));
}

TEST(CheckSequenceBatchingTest, ControlNamesAndKinds) {
  constexpr char kStart[] =
      "control { kind: CONTROL_SEQUENCE_START bool_false_true: [ false, true ] }";
  constexpr char kEnd[] = "control { kind: CONTROL_SEQUENCE_END bool_false_true: [ false, true ] }";
  EXPECT_THAT(
      SequenceProblems(std::string("control_input { ") + kStart + " } control_input { name: 'T' " +
                       kEnd + " } control_input { name: 'T' " + kEnd + " }"),
      ElementsAre("sequence_batching.control_input[0].name: sequence batching control tensor must "
                  "have a name for m",
                  "sequence_batching.control_input[2].name: sequence batching control tensor 'T' "
                  "is specified for multiple control kinds for m",
                  "sequence_batching.control_input[2].control[0].kind: sequence batching "
                  "specifies multiple CONTROL_SEQUENCE_END tensors for m"));
}

TEST(CheckSequenceBatchingTest, BooleanControls) {
  EXPECT_THAT(
      SequenceProblems("control_input { name: 'A' control { kind: CONTROL_SEQUENCE_START } } "
                       "control_input { name: 'B' control { kind: CONTROL_SEQUENCE_READY "
                       "int32_false_true: [ 0, 1 ] fp32_false_true: [ 0, 1, 2 ] } }"),
      ElementsAre("sequence_batching.control_input[0].control[0]: sequence batching must specify "
                  "either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for "
                  "CONTROL_SEQUENCE_START for m",
                  "sequence_batching.control_input[1].control[0]: sequence batching specifies more "
                  "than one from 'int32_false_true', 'fp32_false_true' and 'bool_false_true' for "
                  "CONTROL_SEQUENCE_READY for m",
                  "sequence_batching.control_input[1].control[0].fp32_false_true: sequence "
                  "batching control 'fp32_false_true' must have exactly 2 entries for "
                  "CONTROL_SEQUENCE_READY for m"));
}

TEST(CheckSequenceBatchingTest, CorrelationIdControl) {
  EXPECT_THAT(
      SequenceProblems("control_input { name: 'A' control { kind: CONTROL_SEQUENCE_CORRID "
                       "int32_false_true: [ 0, 1 ] data_type: TYPE_FP32 } }"),
      ElementsAre("sequence_batching.control_input[0].control[0]: sequence batching must not "
                  "specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for "
                  "CONTROL_SEQUENCE_CORRID for m",
                  "sequence_batching.control_input[0].control[0].data_type: unexpected data type "
                  "for control CONTROL_SEQUENCE_CORRID for m. Allowed data types are TYPE_UINT64, "
                  "TYPE_INT64, TYPE_UINT32, TYPE_INT32 and TYPE_STRING"));
}

TEST(CheckSequenceBatchingTest, Strategies) {
  EXPECT_THAT(SequenceProblems("oldest { preferred_batch_size: [ -1, 4, 9 ] }"),
              ElementsAre("sequence_batching.oldest.preferred_batch_size[0]: sequence batching "
                          "preferred batch size must be positive for m",
                          "sequence_batching.oldest.preferred_batch_size[2]: sequence batching "
                          "preferred batch size must be <= max batch size for m"));
  constexpr char kUtilization[] =
      "sequence_batching.direct.minimum_slot_utilization: sequence batching minimum slot "
      "utilization must be in range (0.0, 1.0] for m";
  EXPECT_THAT(SequenceProblems("direct { minimum_slot_utilization: 1.5 }"),
              ElementsAre(kUtilization));
  EXPECT_THAT(SequenceProblems("direct { minimum_slot_utilization: nan }"),
              ElementsAre(kUtilization));
}

}  // namespace
}  // namespace nereid
