// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/needed_part.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backends/onnxruntime/wire_file.h"

namespace nereid_backend {
namespace {

constexpr size_t kMostPieces = 1 << 20;  // operators, weights and tensors of a file
constexpr int kMostNested = 32;          // graphs in operators of graphs

// Where a field lies in the file.
struct Range {
  uint64_t start = 0;
  uint64_t end = 0;
};

struct Operator {
  Range range;
  std::vector<std::string> reads;  // also what the graphs in its attributes read
  std::vector<std::string> makes;
};

struct Named {
  Range range;
  std::string name;
};

struct Graph {
  Range range;
  std::vector<Operator> operators;
  std::vector<Named> weights;
  std::vector<Named> outputs;
  std::unordered_set<std::string> inputs;
  std::vector<Range> others;  // every field that is none of operators, weights and outputs
};

// Finds the parts of one file. False: the file is damaged, or not one to be divided.
class GraphReader {
 public:
  explicit GraphReader(WireFile* file) : file_(file) {}

  bool Read(Graph* graph) {
    WireField model;
    model.end = file_->size();
    int graphs = 0;
    const bool read = ForEachField(file_, model, [&](const WireField& field) {
      if (field.number != kModelGraph) return true;
      graph->range = {field.start, field.end};
      return ++graphs == 1 && ReadGraph(field, graph);
    });
    return read && graphs == 1;
  }

 private:
  using Names = std::vector<std::string>;

  bool ReadGraph(const WireField& bytes, Graph* graph) {
    // Fields without bytes, of which a graph has none, are left out.
    return ForEachField(file_, bytes, [&](const WireField& field) {
      if (++pieces_ > kMostPieces) return false;
      const Range range = {field.start, field.end};
      switch (field.number) {
        case kGraphNode: {
          Operator& one = graph->operators.emplace_back();
          one.range = range;
          return ReadOperator(field, 0, &one.reads, &one.makes);
        }
        case kGraphInitializer:
          graph->weights.push_back({range, ""});
          return ReadTensor(field, &graph->weights.back().name);
        case kGraphOutput:
          graph->outputs.push_back({range, ""});
          return ReadName(field, kValueName, &graph->outputs.back().name);
        case kGraphSparseInitializer:
          graph->others.push_back(range);
          return ReadSparse(field);
        case kGraphInput: {
          graph->others.push_back(range);
          std::string name;
          const bool read = ReadName(field, kValueName, &name);
          graph->inputs.insert(std::move(name));
          return read;
        }
        default:
          graph->others.push_back(range);
          return true;
      }
    });
  }

  // `makes`: null for an operator within another one, whose results nobody outside sees.
  bool ReadOperator(const WireField& bytes, int depth, Names* reads, Names* makes) {
    return ForEachField(file_, bytes, [&](const WireField& field) {
      if (field.number == kNodeAttribute) return ReadAttribute(field, depth, reads);
      Names* const names = field.number == kNodeInput    ? reads
                           : field.number == kNodeOutput ? makes
                                                         : nullptr;
      return names == nullptr || AddText(field, names);
    });
  }

  bool ReadAttribute(const WireField& bytes, int depth, Names* reads) {
    return ForEachField(file_, bytes, [&](const WireField& field) {
      switch (field.number) {
        case kAttributeTensor:
        case kAttributeTensors:
          return ReadTensor(field, nullptr);
        case kAttributeSparse:
        case kAttributeSparses:
          return ReadSparse(field);
        case kAttributeGraph:
        case kAttributeGraphs:
          return ReadInnerGraph(field, depth + 1, reads);
        default:
          return true;
      }
    });
  }

  // Takes all that is read inside for something from outside: too much rather than too little.
  bool ReadInnerGraph(const WireField& bytes, int depth, Names* reads) {
    if (depth > kMostNested) return false;
    return ForEachField(file_, bytes, [&](const WireField& field) {
      if (++pieces_ > kMostPieces) return false;
      switch (field.number) {
        case kGraphNode:
          return ReadOperator(field, depth, reads, nullptr);
        case kGraphInitializer:
          return ReadTensor(field, nullptr);
        case kGraphSparseInitializer:
          return ReadSparse(field);
        case kGraphOutput: {
          std::string name;
          const bool read = ReadName(field, kValueName, &name);
          reads->push_back(std::move(name));
          return read;
        }
        default:
          return true;
      }
    });
  }

  bool ReadSparse(const WireField& bytes) {
    return ForEachField(file_, bytes, [&](const WireField& field) {
      const bool tensor = field.number == kSparseValues || field.number == kSparseIndices;
      return !tensor || ReadTensor(field, nullptr);
    });
  }

  // False if the tensor is in another file. `name`: null if it is not wanted.
  bool ReadTensor(const WireField& bytes, std::string* name) {
    WireMessage message(file_, bytes);
    WireField field;
    while (message.Next(&field)) {
      const bool varint = field.kind == WireField::Kind::kVarint;
      if (varint && field.number == kTensorLocation && field.value != 0) return false;
      const bool text = field.kind == WireField::Kind::kBytes && field.number == kTensorName;
      if (text && name != nullptr && !ReadText(file_, field, name)) return false;
    }
    return !message.damaged();
  }

  bool ReadName(const WireField& bytes, uint64_t number, std::string* name) {
    return ForEachField(file_, bytes, [&](const WireField& field) {
      return field.number != number || ReadText(file_, field, name);
    });
  }

  bool AddText(const WireField& field, Names* names) {
    return ++pieces_ <= kMostPieces && ReadText(file_, field, &names->emplace_back());
  }

  WireFile* const file_;
  size_t pieces_ = 0;
};

// What the outputs need: operators, by index, and the names of tensors.
struct Needs {
  std::vector<bool> operators;
  size_t operator_count = 0;
  std::unordered_set<std::string> tensors;
};

Needs FindNeeds(const Graph& graph, const OutputNames& outputs) {
  Needs needs;
  needs.operators.assign(graph.operators.size(), false);
  std::vector<std::string> open(outputs.begin(), outputs.end());
  const auto take = [&](size_t i) {
    if (needs.operators[i]) return;
    needs.operators[i] = true;
    ++needs.operator_count;
    const std::vector<std::string>& reads = graph.operators[i].reads;
    open.insert(open.end(), reads.begin(), reads.end());
  };
  std::unordered_map<std::string_view, size_t> makers;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    bool makes = false;
    for (const std::string& name : graph.operators[i].makes) {
      if (name.empty()) continue;  // an optional result that is not made
      makers.emplace(name, i);
      makes = true;
    }
    if (!makes) take(i);  // it must be there for something else
  }
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!needs.tensors.insert(name).second) continue;
    if (const auto maker = makers.find(name); maker != makers.end()) take(maker->second);
  }
  return needs;
}

bool HasAll(const Graph& graph, const OutputNames& outputs) {
  OutputNames missing = outputs;
  for (const Named& output : graph.outputs) missing.erase(output.name);
  return missing.empty();
}

std::vector<Range> NeededRanges(const Graph& graph, const Needs& needs,
                                const OutputNames& outputs) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    if (needs.operators[i]) ranges.push_back(graph.operators[i].range);
  }
  for (const Named& weights : graph.weights) {
    // A value of an input stays, as the input does.
    const bool needed =
        needs.tensors.count(weights.name) > 0 || graph.inputs.count(weights.name) > 0;
    if (needed) ranges.push_back(weights.range);
  }
  for (const Named& output : graph.outputs) {
    if (outputs.count(output.name) > 0) ranges.push_back(output.range);
  }
  ranges.insert(ranges.end(), graph.others.begin(), graph.others.end());
  return ranges;
}

void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 0x80; value >>= 7) bytes->push_back(static_cast<char>(value | 0x80));
  bytes->push_back(static_cast<char>(value));
}

// The file with `ranges` as its graph. Empty if it cannot be read.
std::string Copy(const WireFile& file, const Range& graph, const std::vector<Range>& ranges) {
  uint64_t size = 0;
  for (const Range& range : ranges) size += range.end - range.start;
  std::string bytes;
  bytes.reserve(graph.start + 16 + size + (file.size() - graph.end));
  bool read = file.Append(0, graph.start, &bytes);
  AppendVarint(kModelGraph << 3 | 2, &bytes);
  AppendVarint(size, &bytes);
  for (const Range& range : ranges) read = read && file.Append(range.start, range.end, &bytes);
  read = read && file.Append(graph.end, file.size(), &bytes);
  return read ? bytes : "";
}

}  // namespace

std::optional<NeededPart> ReadNeededPart(const std::string& path, const OutputNames& outputs) {
  WireFile file(path);
  Graph graph;
  if (!GraphReader(&file).Read(&graph) || !HasAll(graph, outputs)) return std::nullopt;
  const Needs needs = FindNeeds(graph, outputs);
  NeededPart part;
  part.operators = graph.operators.size();
  part.operators_left_out = part.operators - needs.operator_count;
  if (part.operators_left_out == 0) return std::nullopt;
  part.model = Copy(file, graph.range, NeededRanges(graph, needs, outputs));
  if (part.model.empty()) return std::nullopt;
  return part;
}

}  // namespace nereid_backend
