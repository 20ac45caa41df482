#include "apps/loadgen/request_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

std::string Text(const SequenceStep& step) {
  return std::to_string(step.id) + (step.start ? "s" : "") + (step.end ? "e" : "");
}

TEST(RequestScriptTest, OneRequestForAll) {
  RequestScript script("r");
  EXPECT_EQ(script.Next(0), "r");
  EXPECT_EQ(script.Next(7), "r");
}

TEST(RequestScriptTest, EachSlotGoesThroughSequencesOfItsOwn) {
  RequestScript script(2, 3, Text);
  EXPECT_EQ(script.Next(0), "1s");
  EXPECT_EQ(script.Next(0), "1");
  EXPECT_EQ(script.Next(1), "2s");
  EXPECT_EQ(script.Next(0), "1e");
  EXPECT_EQ(script.Next(0), "1s");
  EXPECT_EQ(script.Next(1), "2");
}

TEST(RequestScriptTest, HttpBodies) {
  EXPECT_EQ(HttpBodyOfStep(R"({"inputs":[]}tail)", {7, true, false}).value(),
            R"({"parameters":{"sequence_id":7,"sequence_start":true,"sequence_end":false},)"
            R"("inputs":[]}tail)");
  EXPECT_FALSE(HttpBodyOfStep("[]", {}).ok());
  EXPECT_FALSE(HttpBodyOfStep("", {}).ok());
}

TEST(RequestScriptTest, GrpcMessages) {
  // Written by the protobuf library: {model_name: "m", parameters: {...}}.
  const std::string expected(
      "\x0a\x01m"
      "\x22\x12\x0a\x0bsequence_id\x12\x03\x10\xac\x02"
      "\x22\x14\x0a\x0esequence_start\x12\x02\x08\x01"
      "\x22\x12\x0a\x0csequence_end\x12\x02\x08\x00",
      3 + 20 + 22 + 20);
  EXPECT_EQ(GrpcMessageOfStep("\x0a\x01m", {300, true, false}), expected);
}

}  // namespace
}  // namespace nereid::bench
