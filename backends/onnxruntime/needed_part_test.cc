// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/needed_part.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "backends/onnxruntime/testing/file_bytes.h"

namespace nereid_backend {
namespace {

std::optional<NeededPart> Read(const std::string& graph, const OutputNames& outputs) {
  const std::string path = ::testing::TempDir() + "needed_part_test.onnx";
  std::ofstream(path, std::ios::binary) << Model(graph);
  return ReadNeededPart(path, outputs);
}

std::string Input(const char* name) { return Bytes(11, Value(name, Dim(3))); }
std::string Output(const char* name) { return Bytes(12, Value(name, Dim(3))); }
std::string Weight(const char* name) { return Bytes(5, Weights(name, 200)); }
// An attribute with a graph.
std::string Inner(const std::string& graph) { return Bytes(5, Bytes(6, graph)); }

TEST(NeededPartTest, WhatOnlyOtherOutputsNeedIsLeftOut) {
  const std::string needed = Node({"X", "w"}, {"a"}) + Node({"a"}, {"Y"});
  const std::string rest = Bytes(2, "graph") + Input("X");
  const std::optional<NeededPart> part = Read(
      Node({"X", "w"}, {"a"}) + Node({"a", "v"}, {"b"}) + Node({"a"}, {"Y"}) + Node({"b"}, {"Z"}) +
          Bytes(2, "graph") + Weight("v") + Weight("w") + Input("X") + Output("Y") + Output("Z"),
      {"Y"});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->operators, 4u);
  EXPECT_EQ(part->operators_left_out, 2u);
  EXPECT_EQ(part->model, Model(needed + Weight("w") + Output("Y") + rest));
}

TEST(NeededPartTest, AllIsNeeded) {
  const std::string graph = Node({"X"}, {"Y", "Z"}) + Input("X") + Output("Y") + Output("Z");
  EXPECT_FALSE(Read(graph, {"Y"}).has_value());
  EXPECT_FALSE(Read(graph, {"Y", "Z"}).has_value());
}

// The error that follows shows the outputs of the whole file.
TEST(NeededPartTest, AnOutputThatIsNotThere) {
  const std::string graph =
      Node({"X"}, {"Y"}) + Node({"X"}, {"Z"}) + Input("X") + Output("Y") + Output("Z");
  EXPECT_TRUE(Read(graph, {"Y"}).has_value());
  EXPECT_FALSE(Read(graph, {"Y", "y"}).has_value());
}

TEST(NeededPartTest, WhatIsReadWithinAnOperatorIsNeeded) {
  const std::string branch = Node({"deep"}, {"c"}) + Bytes(12, Value("direct", ""));
  const std::string loop = Node({}, {"d"}, Inner(branch));
  const std::string graph = Node({"X"}, {"deep"}) + Node({"X"}, {"direct"}) + Node({"X"}, {"Z"}) +
                            Node({"X"}, {"Y"}, Inner(loop)) + Input("X") + Output("Y") +
                            Output("Z");
  const std::optional<NeededPart> part = Read(graph, {"Y"});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->operators_left_out, 1u);
}

TEST(NeededPartTest, OptionalResultsConnectNothing) {
  const std::string graph =
      Node({"X", ""}, {"Y", ""}) + Node({"X"}, {"", "Z"}) + Input("X") + Output("Y") + Output("Z");
  const std::optional<NeededPart> part = Read(graph, {"Y"});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->operators_left_out, 1u);
}

TEST(NeededPartTest, OperatorsWithoutResultsStayWithWhatTheyRead) {
  const std::string graph = Node({"X"}, {"Y"}) + Node({"X"}, {"seen"}) + Node({"seen"}, {""}) +
                            Node({"X"}, {"Z"}) + Input("X") + Output("Y") + Output("Z");
  EXPECT_EQ(Read(graph, {"Y"})->operators_left_out, 1u);
}

TEST(NeededPartTest, InputsAndTheirValuesStay) {
  const std::string graph = Node({"X"}, {"Y"}) + Node({"other"}, {"Z"}) + Weight("other") +
                            Input("X") + Input("other") + Output("Y") + Output("Z");
  EXPECT_EQ(Read(graph, {"Y"})->model, Model(Node({"X"}, {"Y"}) + Weight("other") + Output("Y") +
                                             Input("X") + Input("other")));
}

// A session that is made from memory does not know where the other files are.
TEST(NeededPartTest, TensorsInOtherFiles) {
  const std::string outside = Bytes(8, "w") + Number(14, 1);
  const auto read = [](const std::string& more) {
    return Read(
        Node({"X"}, {"Y"}) + Node({"X"}, {"Z"}) + Input("X") + Output("Y") + Output("Z") + more,
        {"Y"});
  };
  EXPECT_TRUE(read(Bytes(5, Bytes(8, "w") + Number(14, 0))).has_value());
  EXPECT_FALSE(read(Bytes(5, outside)).has_value());
  EXPECT_FALSE(read(Bytes(15, Bytes(1, outside))).has_value());
  EXPECT_FALSE(read(Node({}, {"c"}, Bytes(5, Bytes(5, outside)))).has_value());
  EXPECT_FALSE(read(Node({}, {"c"}, Inner(Bytes(5, outside)))).has_value());
}

TEST(NeededPartTest, GraphsWithinGraphsWithoutEnd) {
  const auto read = [](int depth) {
    std::string inner = Node({"X"}, {"a"});
    for (int i = 0; i < depth; ++i) inner = Node({"X"}, {"a"}, Inner(inner));
    return Read(inner + Node({"X"}, {"Y"}) + Output("Y"), {"Y"});
  };
  EXPECT_TRUE(read(30).has_value());
  EXPECT_FALSE(read(40).has_value());
}

TEST(NeededPartTest, FilesThatAreNoModels) {
  const std::string whole =
      Model(Node({"X"}, {"Y"}) + Node({"X"}, {"Z"}) + Weight("w") + Output("Y") + Output("Z"));
  const std::string path = ::testing::TempDir() + "needed_part_test.onnx";
  const size_t end = whole.size() - Bytes(8, Number(2, 17)).size();
  for (size_t size = 0; size < end; ++size) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(ReadNeededPart(path, {"Y"}).has_value()) << size;
  }
  std::ofstream(path, std::ios::binary) << whole << Bytes(7, "");
  EXPECT_FALSE(ReadNeededPart(path, {"Y"}).has_value()) << "two graphs";
  EXPECT_FALSE(ReadNeededPart(::testing::TempDir() + "nothing", {"Y"}).has_value());
}

}  // namespace
}  // namespace nereid_backend
