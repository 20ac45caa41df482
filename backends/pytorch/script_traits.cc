// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/script_traits.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

namespace nereid_backend {
namespace {

using torch::jit::AliasDb;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// What the nodes of a graph say about it.
struct Found {
  bool sets_attribute = false;
  bool forks = false;
  bool calls_unknown = false;            // a method that is only known at run time
  bool writes = false;                   // into anything
  std::vector<const Value*> attributes;  // values read from the module
};

void Look(const Block& block, Found* found) {
  for (const Node* node : block.nodes()) {
    const torch::jit::NodeKind kind = node->kind();
    found->sets_attribute = found->sets_attribute || kind == prim::SetAttr;
    found->forks = found->forks || kind == prim::fork || kind == prim::awaitable;
    found->calls_unknown =
        found->calls_unknown || kind == prim::CallMethod || kind == prim::CallFunction;
    if (kind == prim::GetAttr) found->attributes.push_back(node->output());
    const c10::FunctionSchema* const schema = node->maybeSchema();
    found->writes = found->writes || (schema != nullptr && schema->is_mutable());
    for (const Block* inner : node->blocks()) Look(*inner, found);
    if (node->hasAttribute(torch::jit::attr::Subgraph)) {
      Look(*node->g(torch::jit::attr::Subgraph)->block(), found);
    }
  }
}

}  // namespace

NetworkTraits TraitsOf(const torch::jit::Method& method) {
  const std::shared_ptr<Graph> graph = method.graph()->copy();
  torch::jit::Inline(*graph);
  Found found;
  Look(*graph->block(), &found);

  NetworkTraits traits;
  traits.forks = found.forks;
  traits.writes_attributes = found.sets_attribute || found.calls_unknown;
  traits.writes_argument.assign(graph->inputs().size() - 1, found.calls_unknown);
  if (!found.writes || found.calls_unknown) return traits;
  const AliasDb aliases(graph);
  for (size_t i = 1; i < graph->inputs().size(); ++i) {
    const Value* const input = graph->inputs()[i];
    // For a container, the analysis by itself says nothing about the values inside.
    const bool is_tensor = input->type()->kind() == c10::TypeKind::TensorType;
    traits.writes_argument[i - 1] = !is_tensor || aliases.hasWriters(input);
  }
  for (const Value* attribute : found.attributes) {
    traits.writes_attributes = traits.writes_attributes || aliases.hasWriters(attribute);
  }
  return traits;
}

}  // namespace nereid_backend
