// SPDX-License-Identifier: Apache-2.0
#include "backends/python/wait_graph.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using Node = WaitGraph::Node;
using Wait = WaitGraph::Wait;

TEST(WaitGraphTest, AModelThatAsksItselfNeedsAnotherInstance) {
  WaitGraph graph;
  Node first(&graph, "a");
  Wait wait;
  EXPECT_FALSE(graph.Begin(&first, {"a"}, &wait));
  Node second(&graph, "a");
  EXPECT_TRUE(graph.Begin(&first, {"a"}, &wait));
  Wait other;
  EXPECT_FALSE(graph.Begin(&second, {"a"}, &other));
  graph.End(wait);
  EXPECT_TRUE(graph.Begin(&second, {"a"}, &other));
  graph.End(other);
}

TEST(WaitGraphTest, ACircleOfModels) {
  WaitGraph graph;
  Node a(&graph, "a");
  Node b(&graph, "b");
  Node c(&graph, "c");
  Wait first;
  Wait second;
  Wait third;
  EXPECT_TRUE(graph.Begin(&a, {"b"}, &first));
  EXPECT_TRUE(graph.Begin(&b, {"c"}, &second));
  EXPECT_FALSE(graph.Begin(&c, {"a"}, &third));
  EXPECT_TRUE(graph.Begin(&c, {"somebody else"}, &third));
  graph.End(first);
  graph.End(second);
  graph.End(third);
}

TEST(WaitGraphTest, AnIdleInstanceAnywhereInTheCircleBreaksIt) {
  WaitGraph graph;
  Node a(&graph, "a");
  Node b(&graph, "b");
  Node idle(&graph, "b");
  Wait first;
  Wait second;
  EXPECT_TRUE(graph.Begin(&a, {"b"}, &first));
  EXPECT_TRUE(graph.Begin(&b, {"a"}, &second));
  graph.End(second);
  graph.End(first);
}

TEST(WaitGraphTest, AnEnsembleIsItsModels) {
  WaitGraph graph;
  Node a(&graph, "a");
  Wait wait;
  EXPECT_TRUE(graph.Begin(&a, {"x", "y"}, &wait));
  graph.End(wait);
  EXPECT_FALSE(graph.Begin(&a, {"x", "a"}, &wait));
}

// If an instance waits for several requests, one that is never answered suffices to block it.
TEST(WaitGraphTest, SeveralWaitsOfAnInstance) {
  WaitGraph graph;
  Node a(&graph, "a");
  Wait harmless;
  Wait wait;
  EXPECT_TRUE(graph.Begin(&a, {"x"}, &harmless));
  EXPECT_FALSE(graph.Begin(&a, {"a"}, &wait));
  graph.End(harmless);
}

}  // namespace
}  // namespace nereid_backend
