// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/notes.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "backends/sdk/json.h"

namespace nereid_backend {
namespace {

// "" if there is no file.
std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

// The object in the file `path`; an empty one if there is no file.
Result<Json> ReadObject(const std::filesystem::path& path) {
  const std::string text = ReadText(path);
  if (text.empty()) return Json::MakeObject();
  Result<Json> json = Json::Parse(text);
  if (json.ok()) return json;
  return Error::InvalidArg(StrCat("'", path.string(), "' is no JSON: ", json.error().message()));
}

// One token, or an array of them.
std::vector<Token> TokensIn(const Json& json) {
  if (json.is_int()) return {json.AsInt()};
  return json.AsInts();
}

// A text, or an array of named ones.
std::string TemplateIn(const Json& json) {
  for (const Json& one : json.items()) {
    if (one["name"].AsString() == "default") return one["template"].AsString();
  }
  return json.AsString();
}

}  // namespace

Result<ModelNotes> ReadModelNotes(const std::filesystem::path& folder) {
  NB_ASSIGN_OR_RETURN(const Json config, ReadObject(folder / "config.json"));
  NB_ASSIGN_OR_RETURN(const Json generation, ReadObject(folder / "generation_config.json"));
  NB_ASSIGN_OR_RETURN(const Json tokenizer, ReadObject(folder / "tokenizer_config.json"));
  ModelNotes notes;
  notes.context = std::max<int64_t>(config["max_position_embeddings"].AsInt(), 0);
  // The second file is about generation alone, and is the newer one of the two.
  notes.end_tokens = TokensIn(generation["eos_token_id"]);
  if (notes.end_tokens.empty()) notes.end_tokens = TokensIn(config["eos_token_id"]);
  notes.chat_template = ReadText(folder / "chat_template.jinja");
  if (notes.chat_template.empty()) notes.chat_template = TemplateIn(tokenizer["chat_template"]);
  return notes;
}

std::string_view ChatFormatOf(std::string_view chat_template) {
  const auto has = [chat_template](std::string_view mark) {
    return chat_template.find(mark) != std::string_view::npos;
  };
  if (has("<|im_start|>")) return "chatml";
  if (has("<|start_header_id|>")) return "llama3";
  // Others that have this mark put system messages elsewhere.
  if (has("[INST]") && !has("<<SYS>>") && !has("[SYSTEM_PROMPT]")) return "mistral";
  return "";
}

}  // namespace nereid_backend
