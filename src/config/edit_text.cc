// SPDX-License-Identifier: Apache-2.0
#include "config/edit_text.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "base/status_macros.h"
#include "config/parse.h"
#include "model_config.pb.h"

namespace nereid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;
using Tree = TextFormat::ParseInfoTree;

// A part of the text: from `begin` up to, but without, `end`.
struct Part {
  size_t begin = 0;
  size_t end = 0;
};

class Editor {
 public:
  explicit Editor(absl::string_view text) : text_(text) {}

  // All statements of a field in the message of `tree`, in the order of the text. A list in
  // brackets is one statement.
  std::vector<Part> Statements(const Tree& tree, const FieldDescriptor* field) const {
    std::vector<Part> parts;
    for (int index = 0;; ++index) {
      const auto range = tree.GetLocationRange(field, field->is_repeated() ? index : -1);
      if (range.start.line < 0) return parts;
      parts.push_back({OffsetOf(text_, range.start.line, range.start.column),
                       OffsetOf(text_, range.end.line, range.end.column)});
      if (!field->is_repeated()) return parts;
    }
  }

  // Makes `statement` the only statement of the field; an empty one removes it. `body`: of the
  // message that the field belongs to.
  void Set(const Tree& tree, const FieldDescriptor* field, Part body,
           const std::string& statement) {
    const std::vector<Part> old = Statements(tree, field);
    for (size_t i = 0; i < old.size(); ++i) {
      if (i == 0 && !statement.empty()) {
        edits_.push_back({old[i], statement});
      } else {
        edits_.push_back({WithSpaceBefore(old[i]), ""});
      }
    }
    if (!old.empty() || statement.empty()) return;
    if (body.end == text_.size()) {
      Append(statement);
    } else {
      InsertBefore(body, statement);
    }
  }

  // Another statement on the line of `statement`.
  void InsertAfter(Part statement, const std::string& other) {
    edits_.push_back({{statement.end, statement.end}, " " + other});
  }

  absl::string_view TextOf(Part part) const {
    return text_.substr(part.begin, part.end - part.begin);
  }

  // A new last line.
  void Append(const std::string& statement) {
    const bool whole_line = text_.empty() || text_.back() == '\n';
    absl::StrAppend(&appended_, whole_line || !appended_.empty() ? "" : "\n", statement, "\n");
  }

  Part whole() const { return {0, text_.size()}; }
  // What a statement with a message has between its last braces.
  Part BodyOf(Part statement) const {
    const absl::string_view text = text_.substr(0, statement.end);
    return {statement.begin, std::max(text.rfind('}'), statement.begin)};
  }

  std::string Apply() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.part.begin < b.part.begin; });
    std::string changed;
    size_t at = 0;
    for (const Edit& edit : edits_) {
      absl::StrAppend(&changed, text_.substr(at, edit.part.begin - at), edit.replacement);
      at = edit.part.end;
    }
    absl::StrAppend(&changed, text_.substr(at), appended_);
    return changed;
  }

 private:
  struct Edit {
    Part part;
    std::string replacement;
  };

  Part WithSpaceBefore(Part part) const {
    while (part.begin > 0 && text_[part.begin - 1] == ' ') --part.begin;
    if (part.begin > 0 && text_[part.begin - 1] == '\n') --part.begin;
    return part;
  }

  // Before the brace that ends `body`, on a line of its own where the message has several.
  void InsertBefore(Part body, const std::string& statement) {
    const absl::string_view inside = text_.substr(body.begin, body.end - body.begin);
    const size_t line = inside.rfind('\n');
    if (line == absl::string_view::npos) {
      const bool spaced = !inside.empty() && inside.back() == ' ';
      edits_.push_back({{body.end, body.end}, absl::StrCat(spaced ? "" : " ", statement, " ")});
      return;
    }
    const std::string indent(inside.size() - line - 1, ' ');
    edits_.push_back({{body.end, body.end}, absl::StrCat("  ", statement, "\n", indent)});
  }

  const absl::string_view text_;
  std::vector<Edit> edits_;
  std::string appended_;
};

const FieldDescriptor* Field(const Message& message, const char* name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

absl::Status EditInstances(const inference::ModelConfig& config, const Tree& tree, int32_t count,
                           Editor* editor) {
  if (config.instance_group_size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("the configuration has ", config.instance_group_size(),
                     " instance groups, so that it is not clear which of them is to have ", count,
                     " instances"));
  }
  const FieldDescriptor* const groups = Field(config, "instance_group");
  const std::string statement = absl::StrCat("count: ", count);
  const std::vector<Part> old = editor->Statements(tree, groups);
  if (config.instance_group_size() == 0 || old.empty()) {
    editor->Append(absl::StrCat("instance_group [ { ", statement, " } ]"));
    return absl::OkStatus();
  }
  if (config.instance_group(0).count() == count) return absl::OkStatus();
  editor->Set(*tree.GetTreeForNested(groups, 0), Field(config.instance_group(0), "count"),
              editor->BodyOf(old[0]), statement);
  return absl::OkStatus();
}

std::string PreferredText(const std::vector<int32_t>& sizes) {
  if (sizes.empty()) return "";
  return absl::StrCat("preferred_batch_size: [ ", absl::StrJoin(sizes, ", "), " ]");
}

void EditBatching(const inference::ModelConfig& config, const Tree& tree,
                  const ConfigChanges& changes, Editor* editor) {
  const auto& batching = config.dynamic_batching();
  const std::string preferred =
      PreferredText(changes.preferred_batch_sizes.value_or(std::vector<int32_t>()));
  const uint64_t delay = changes.max_queue_delay_us.value_or(0);
  const std::string delay_text =
      delay == 0 ? "" : absl::StrCat("max_queue_delay_microseconds: ", delay);
  const FieldDescriptor* const field = Field(config, "dynamic_batching");
  if (!config.has_dynamic_batching()) {
    std::vector<std::string> words = {"dynamic_batching {"};
    for (const std::string& word : {preferred, delay_text}) {
      if (!word.empty()) words.push_back(word);
    }
    editor->Append(absl::StrJoin(words, " ") + " }");
    return;
  }
  const Tree& inner = *tree.GetTreeForNested(field, -1);
  const Part body = editor->BodyOf(editor->Statements(tree, field)[0]);
  if (changes.preferred_batch_sizes.has_value() &&
      !std::equal(batching.preferred_batch_size().begin(), batching.preferred_batch_size().end(),
                  changes.preferred_batch_sizes->begin(), changes.preferred_batch_sizes->end())) {
    editor->Set(inner, Field(batching, "preferred_batch_size"), body, preferred);
  }
  if (changes.max_queue_delay_us.has_value() && batching.max_queue_delay_microseconds() != delay) {
    editor->Set(inner, Field(batching, "max_queue_delay_microseconds"), body, delay_text);
  }
}

// The name of a parameter, from the statement in which it is written.
std::string ParameterKey(absl::string_view statement) {
  inference::ModelConfig config;
  TextFormat::ParseFromString(absl::StrCat("parameters { ", statement, " }"), &config);
  return config.parameters().empty() ? "" : config.parameters().begin()->first;
}

void EditParameter(const inference::ModelConfig& config, const Tree& tree, const std::string& key,
                   const std::string& value, Editor* editor) {
  const FieldDescriptor* const field = Field(config, "parameters");
  const std::string statement = absl::StrCat("string_value: \"", absl::CEscape(value), "\"");
  const auto today = config.parameters().find(key);
  if (today == config.parameters().end()) {
    editor->Append(
        absl::StrCat("parameters { key: \"", absl::CEscape(key), "\" value { ", statement, " } }"));
    return;
  }
  if (today->second.string_value() == value) return;
  const FieldDescriptor* const key_field = field->message_type()->FindFieldByName("key");
  const FieldDescriptor* const value_field = field->message_type()->FindFieldByName("value");
  for (int i = 0; const Tree* const entry = tree.GetTreeForNested(field, i); ++i) {
    const std::vector<Part> keys = editor->Statements(*entry, key_field);
    if (keys.empty() || ParameterKey(editor->TextOf(keys[0])) != key) continue;
    const std::vector<Part> values = editor->Statements(*entry, value_field);
    if (values.empty()) {
      editor->InsertAfter(keys[0], absl::StrCat("value { ", statement, " }"));
    } else {
      editor->Set(*entry->GetTreeForNested(value_field, -1), Field(today->second, "string_value"),
                  editor->BodyOf(values[0]), statement);
    }
  }
}

}  // namespace

absl::StatusOr<std::string> EditConfigText(const std::string& path, absl::string_view text,
                                           const ConfigChanges& changes) {
  inference::ModelConfig config;
  RETURN_IF_ERROR(ParseModelConfigText(path, text, &config));
  // Parsed twice: the first pass has the error texts, the second one the places of the fields.
  Tree tree;
  TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  parser.ParseFromString(std::string(text), &config);
  Editor editor(text);
  if (changes.max_batch_size.has_value() && config.max_batch_size() != *changes.max_batch_size) {
    editor.Set(tree, Field(config, "max_batch_size"), editor.whole(),
               absl::StrCat("max_batch_size: ", *changes.max_batch_size));
  }
  if (changes.instances.has_value()) {
    RETURN_IF_ERROR(EditInstances(config, tree, *changes.instances, &editor));
  }
  if (changes.no_batching) {
    editor.Set(tree, Field(config, "dynamic_batching"), editor.whole(), "");
  } else if (changes.preferred_batch_sizes.has_value() || changes.max_queue_delay_us.has_value()) {
    EditBatching(config, tree, changes, &editor);
  }
  if (changes.backend.has_value() && config.backend() != *changes.backend) {
    editor.Set(tree, Field(config, "backend"), editor.whole(),
               absl::StrCat("backend: \"", absl::CEscape(*changes.backend), "\""));
    editor.Set(tree, Field(config, "platform"), editor.whole(), "");
  }
  for (const auto& [key, value] : changes.parameters) {
    EditParameter(config, tree, key, value, &editor);
  }
  std::string changed = editor.Apply();
  // The edits are made in the text, to keep comments and order. Whether the text still parses is
  // therefore not certain before it has been tried.
  RETURN_IF_ERROR(ParseModelConfigText(path, changed, &config));
  return changed;
}

}  // namespace nereid
