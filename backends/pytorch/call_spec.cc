// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/call_spec.h"

#include "backends/sdk/json.h"

namespace nereid_backend {
namespace {

constexpr int kDeepest = 64;

// The names of one value in the tree.
using Leaf = std::vector<std::string>;

// Parses [1, tree], where 1 is the number of the format, and returns the tree.
Result<Json> ParseTree(std::string_view text) {
  NB_ASSIGN_OR_RETURN(Json json, Json::Parse(text));
  if (json.is_array() && json.items().size() == 2 && json.items()[1].is_object()) {
    return Json(json.items()[1]);
  }
  return Error::InvalidArg("its call specification is not of the known form");
}

// The keys of a dictionary, which the file stores as JSON in a string.
Result<std::vector<std::string>> KeysOf(const Json& node) {
  std::vector<std::string> keys;
  if (node["type"].AsString().find("ict") == std::string::npos) return keys;
  NB_ASSIGN_OR_RETURN(const Json context, Json::Parse(node["context"].AsString("[]")));
  for (const Json& key : context.items()) keys.push_back(key.AsString());
  return keys;
}

bool IsContainer(const std::string& type) {
  for (const char* known : {"tuple", "list", "dict", "Dict", "immutable"}) {
    if (type.find(known) != std::string::npos) return true;
  }
  return false;
}

Error AddLeaves(const Json& node, const std::string& path, const std::string& key, int depth,
                std::vector<Leaf>* leaves) {
  if (node["type"].is_null()) {
    leaves->push_back(key.empty() ? Leaf{path} : Leaf{path, key});
    return Error();
  }
  const std::string type = node["type"].AsString();
  if (depth > kDeepest || !IsContainer(type)) {
    return Error::Unsupported(StrCat(path, " of its call specification is a ", type,
                                     "; known are tuples, lists and dictionaries"));
  }
  NB_ASSIGN_OR_RETURN(const std::vector<std::string> keys, KeysOf(node));
  const Json::Array& children = node["children_spec"].items();
  if (!keys.empty() && keys.size() != children.size()) {
    return Error::InvalidArg(StrCat(path, " of its call specification has ", keys.size(),
                                    " keys for ", children.size(), " values"));
  }
  for (size_t i = 0; i < children.size(); ++i) {
    const std::string name = keys.empty() ? std::to_string(i) : keys[i];
    // Only keys of the first level serve as names; deeper ones would be ambiguous.
    const bool short_name = depth == 0 && !keys.empty();
    NB_RETURN_IF_ERROR(
        AddLeaves(children[i], path + "[" + name + "]", short_name ? name : "", depth + 1, leaves));
  }
  return Error();
}

std::string Describe(const Forward& forward) {
  std::string text = "forward(";
  for (size_t i = 0; i < forward.arguments.size(); ++i) {
    text += (i > 0 ? ", " : "") + forward.arguments[i].names.back();
  }
  text += ") -> ";
  for (size_t i = 0; i < forward.returned.size(); ++i) {
    text += (i > 0 ? ", " : "") + forward.returned[i].names.back();
  }
  return text;
}

}  // namespace

Result<Forward> ReadCallSpec(std::string_view in_spec, std::string_view out_spec) {
  NB_ASSIGN_OR_RETURN(const Json in, ParseTree(in_spec));
  NB_ASSIGN_OR_RETURN(const Json out, ParseTree(out_spec));
  const Json::Array& call = in["children_spec"].items();
  if (call.size() != 2) {
    return Error::InvalidArg("its call specification has no arguments and keyword arguments");
  }
  std::vector<Leaf> inputs;
  NB_RETURN_IF_ERROR(AddLeaves(call[0], "ARGS", "", 0, &inputs));
  NB_RETURN_IF_ERROR(AddLeaves(call[1], "KWARGS", "", 0, &inputs));
  std::vector<Leaf> outputs;
  NB_RETURN_IF_ERROR(AddLeaves(out, "RESULT", "", 0, &outputs));

  Forward forward;
  for (Leaf& leaf : inputs) {
    forward.arguments.push_back({std::move(leaf), ValueKind::kTensor, false, "Tensor"});
  }
  for (Leaf& leaf : outputs) {
    forward.returned.push_back({std::move(leaf), ValueKind::kTensor});
  }
  forward.text = Describe(forward);
  return forward;
}

}  // namespace nereid_backend
