// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/request_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

constexpr auto kDecimal = RequestScript::IdForm::kDecimal;

SequenceText Text(const SequenceStep& step) {
  return {"id " + std::to_string(step.id) + (step.start ? "s" : "") + (step.end ? "e" : ""), 3};
}

TEST(RequestScriptTest, OneRequestForAll) {
  RequestScript script("r");
  EXPECT_EQ(script.Next(0), "r");
  EXPECT_EQ(script.Next(7), "r");
  EXPECT_FALSE(script.EndSequence(7));
}

TEST(RequestScriptTest, SeveralInTurn) {
  RequestScript script(std::vector<std::string>{"a", "b"});
  EXPECT_EQ(script.Next(0), "a");
  EXPECT_EQ(script.Next(0), "b");
  EXPECT_EQ(script.Next(1), "a");
}

TEST(RequestScriptTest, SeveralInAnOrder) {
  RequestScript script({"a", "b"}, {1, 1, 0});
  EXPECT_EQ(script.Next(0), "b");
  EXPECT_EQ(script.Next(1), "b");
  EXPECT_EQ(script.Next(1), "a");
  EXPECT_EQ(script.Next(0), "b");
}

TEST(RequestScriptTest, EverySequenceHasAnIdOfItsOwn) {
  RequestScript script(2, 3, kDecimal, Text);
  EXPECT_EQ(script.Next(0), "id 1000000000s");
  EXPECT_EQ(script.Next(0), "id 1000000000");
  EXPECT_EQ(script.Next(1), "id 1000000001s");
  EXPECT_EQ(script.Next(0), "id 1000000000e");
  EXPECT_EQ(script.Next(0), "id 1000000002s");
  EXPECT_EQ(script.Next(1), "id 1000000001");
}

TEST(RequestScriptTest, AnEarlyEnd) {
  RequestScript script(1, 5, kDecimal, Text);
  EXPECT_FALSE(script.EndSequence(0));
  EXPECT_EQ(script.Next(0), "id 1000000000s");
  EXPECT_TRUE(script.EndSequence(0));
  EXPECT_EQ(script.Next(0), "id 1000000000e");
  EXPECT_FALSE(script.EndSequence(0));
}

TEST(RequestScriptTest, SequencesOfOneRequest) {
  RequestScript script(1, 1, kDecimal, Text);
  EXPECT_EQ(script.Next(0), "id 1000000000se");
  EXPECT_EQ(script.Next(0), "id 1000000001se");
}

TEST(RequestScriptTest, IdsBeginAnewAfterTheLast) {
  RequestScript script(1, 1, kDecimal, Text, RequestScript::kLastId);
  EXPECT_EQ(script.Next(0), "id 2147483647se");
  EXPECT_EQ(script.Next(0), "id 1000000000se");
}

TEST(RequestScriptTest, IdsInMessages) {
  const auto render = [](const SequenceStep& step) { return GrpcMessageOfStep("", step); };
  RequestScript script(1, 1, RequestScript::IdForm::kVarint, render, 1234567890);
  EXPECT_EQ(script.Next(0), GrpcMessageOfStep("", {1234567890, true, true}).bytes);
}

TEST(RequestScriptTest, HttpBodies) {
  EXPECT_EQ(HttpBodyOfStep(R"({"inputs":[]}tail)", {7, true, false})->bytes,
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
  EXPECT_EQ(GrpcMessageOfStep("\x0a\x01m", {300, true, false}).bytes, expected);
}

}  // namespace
}  // namespace nereid::bench
