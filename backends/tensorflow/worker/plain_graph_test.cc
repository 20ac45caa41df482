// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/plain_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/tensorflow/testing/wire_format.h"

namespace nereid_tensorflow {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kStateful = 17;
constexpr uint32_t kReference = 16;

std::string Op(const std::string& name, const std::string& more = "") {
  return Bytes(1, Bytes(1, name) + more);
}
std::string Node(const std::string& op) { return Bytes(1, "n") + Bytes(2, op); }

const std::string kOps =
    Op("MatMul") + Op("Switch") + Op("If") + Op("RandomUniform", Number(kStateful, 1)) +
    Op("ReadVariableOp", Number(kStateful, 1)) + Op("QueueDequeueV2", Number(kStateful, 1)) +
    Op("Identity", Bytes(3, Bytes(1, "output"))) +
    Op("RefIdentity", Bytes(3, Bytes(1, "output") + Number(kReference, 1)));

TEST(PlainGraphTest, Operators) {
  EXPECT_THAT(PlainOperators(kOps), ElementsAre("Identity", "MatMul", "ReadVariableOp"));
  EXPECT_TRUE(PlainOperators("").empty());
}

TEST(PlainGraphTest, NodesOfGraphsAndFunctions) {
  const OperatorNames plain = PlainOperators(kOps);
  const std::string good = Bytes(1, Node("MatMul")) + Bytes(1, Node("Identity"));
  const auto calling = [&](const std::string& op) {
    return good + Bytes(2, Bytes(1, Bytes(3, Node("ReadVariableOp")) + Bytes(3, Node(op))));
  };
  EXPECT_TRUE(IsPlainGraph(good, plain));
  EXPECT_TRUE(IsPlainGraph(calling("MatMul"), plain));
  EXPECT_FALSE(IsPlainGraph(good + Bytes(1, Node("Switch")), plain));
  EXPECT_FALSE(IsPlainGraph(good + Bytes(1, Node("a_function")), plain));
  EXPECT_FALSE(IsPlainGraph(calling("If"), plain));
  const auto saved = [](const std::string& graph) {
    return Bytes(2, Bytes(1, "meta") + Bytes(2, graph));
  };
  EXPECT_TRUE(IsPlainSavedModel(saved(good), plain));
  EXPECT_FALSE(IsPlainSavedModel(saved(good) + saved(calling("QueueDequeueV2")), plain));
}

TEST(PlainGraphTest, DamageIsNotPlain) {
  const OperatorNames plain = PlainOperators(kOps);
  const std::string graph = Bytes(1, Node("MatMul"));
  for (size_t size = 1; size < graph.size(); ++size) {
    EXPECT_FALSE(IsPlainGraph(graph.substr(0, size), plain)) << size;
    PlainOperators(kOps.substr(0, size));
  }
}

}  // namespace
}  // namespace nereid_tensorflow
