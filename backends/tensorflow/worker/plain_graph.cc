// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/plain_graph.h"

#include <algorithm>

#include "backends/tensorflow/worker/proto_reader.h"

namespace nereid_tensorflow {
namespace {

// Field numbers of TensorFlow's op_def.proto, graph.proto, function.proto and saved_model.proto.
namespace op_list {
constexpr uint32_t kOp = 1;
constexpr uint32_t kName = 1;
constexpr uint32_t kOutput = 3;
constexpr uint32_t kOutputIsRef = 16;
constexpr uint32_t kIsStateful = 17;
}  // namespace op_list
namespace graph {
constexpr uint32_t kNode = 1;
constexpr uint32_t kLibrary = 2;
constexpr uint32_t kLibraryFunction = 1;
constexpr uint32_t kFunctionNode = 3;
constexpr uint32_t kNodeOp = 2;
}  // namespace graph
namespace saved_model {
constexpr uint32_t kMetaGraph = 2;
constexpr uint32_t kGraph = 2;
}  // namespace saved_model

// What control flow is made of, or becomes when a session prepares a graph.
constexpr std::string_view kControlFlow[] = {
    "Case",           "Enter",  "Exit",          "For",           "If",
    "LoopCond",       "Merge",  "NextIteration", "StatelessCase", "StatelessIf",
    "StatelessWhile", "Switch", "While",         "_SwitchN",      "_XlaMerge"};
// With a state, but without waiting for one another.
constexpr std::string_view kStateful[] = {"Assert",
                                          "AssignAddVariableOp",
                                          "AssignSubVariableOp",
                                          "AssignVariableOp",
                                          "DisableCopyOnRead",
                                          "HashTableV2",
                                          "InitializeTableFromTextFileV2",
                                          "InitializeTableV2",
                                          "LookupTableExportV2",
                                          "LookupTableFindV2",
                                          "LookupTableImportV2",
                                          "LookupTableSizeV2",
                                          "MergeV2Checkpoints",
                                          "MutableHashTableV2",
                                          "ReadVariableOp",
                                          "ResourceGather",
                                          "ResourceGatherNd",
                                          "RestoreV2",
                                          "SaveV2",
                                          "StatefulPartitionedCall",
                                          "VarHandleOp",
                                          "VarIsInitializedOp"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// Calls `take` with the bytes of each field `number`. False if one of the calls is false, or
// `bytes` are no message.
template <typename Take>
bool ForEach(std::string_view bytes, uint32_t number, Take take) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == number && !take(reader.bytes())) return false;
  }
  return reader.ok();
}

bool HasReference(std::string_view output) {
  ProtoReader reader(output);
  while (reader.Next()) {
    if (reader.number() == op_list::kOutputIsRef && reader.varint() != 0) return true;
  }
  return false;
}

void AddIfPlain(std::string_view op, OperatorNames* plain) {
  std::string_view name;
  bool stateful = false;
  bool references = false;
  ProtoReader reader(op);
  while (reader.Next()) {
    if (reader.number() == op_list::kName) name = reader.bytes();
    if (reader.number() == op_list::kIsStateful) stateful = reader.varint() != 0;
    if (reader.number() == op_list::kOutput) references |= HasReference(reader.bytes());
  }
  if (references || Contains(kControlFlow, name)) return;
  if (!stateful || Contains(kStateful, name)) plain->emplace(name);
}

bool IsPlainNode(std::string_view node, const OperatorNames& plain) {
  return ForEach(node, graph::kNodeOp,
                 [&](std::string_view op) { return plain.find(op) != plain.end(); });
}

}  // namespace

OperatorNames PlainOperators(std::string_view op_list) {
  OperatorNames plain;
  ForEach(op_list, op_list::kOp, [&](std::string_view op) {
    AddIfPlain(op, &plain);
    return true;
  });
  return plain;
}

bool IsPlainGraph(std::string_view graph_def, const OperatorNames& plain) {
  const auto node = [&](std::string_view bytes) { return IsPlainNode(bytes, plain); };
  const auto function = [&](std::string_view bytes) {
    return ForEach(bytes, graph::kFunctionNode, node);
  };
  const auto library = [&](std::string_view bytes) {
    return ForEach(bytes, graph::kLibraryFunction, function);
  };
  return ForEach(graph_def, graph::kNode, node) && ForEach(graph_def, graph::kLibrary, library);
}

bool IsPlainSavedModel(std::string_view saved_model, const OperatorNames& plain) {
  return ForEach(saved_model, saved_model::kMetaGraph, [&](std::string_view meta_graph) {
    return ForEach(meta_graph, saved_model::kGraph,
                   [&](std::string_view graph_def) { return IsPlainGraph(graph_def, plain); });
  });
}

}  // namespace nereid_tensorflow
