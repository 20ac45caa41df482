// SPDX-License-Identifier: Apache-2.0
#include "config/explain.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "config/autocomplete.h"
#include "config/diagnostics.h"
#include "config/normalize.h"
#include "config/parse.h"
#include "config/supported.h"
#include "config/validate/checks.h"
#include "model_config.pb.h"

namespace nereid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

// All values of a message by path, in the order of the fields.
class Flattener {
 public:
  using Values = std::vector<std::pair<std::string, std::string>>;

  static Values Flatten(const Message& message) {
    Flattener flattener;
    flattener.Add(message, "");
    return std::move(flattener.values_);
  }

 private:
  void Add(const Message& message, const std::string& prefix) {
    std::vector<const FieldDescriptor*> fields;
    const Reflection* reflection = message.GetReflection();
    reflection->ListFields(message, &fields);
    if (fields.empty() && !prefix.empty()) values_.emplace_back(prefix, "{ }");
    for (const FieldDescriptor* field : fields) {
      const std::string path =
          prefix.empty() ? field->name() : absl::StrCat(prefix, ".", field->name());
      if (field->is_map()) {
        AddMap(message, *field, path);
      } else if (field->is_repeated()) {
        for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
          AddValue(message, *field, i, absl::StrCat(path, "[", i, "]"));
        }
      } else {
        AddValue(message, *field, -1, path);
      }
    }
  }

  void AddValue(const Message& message, const FieldDescriptor& field, int index,
                const std::string& path) {
    const Reflection* reflection = message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Add(index < 0 ? reflection->GetMessage(message, &field)
                    : reflection->GetRepeatedMessage(message, &field, index),
          path);
      return;
    }
    std::string text;
    TextFormat::PrintFieldValueToString(message, &field, index, &text);
    values_.emplace_back(path, std::move(text));
  }

  // Entries by key, because maps have no order.
  void AddMap(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const Reflection* reflection = message.GetReflection();
    std::map<std::string, const Message*> entries;
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      const Message& entry = reflection->GetRepeatedMessage(message, &field, i);
      std::string key;
      TextFormat::PrintFieldValueToString(entry, entry.GetDescriptor()->FindFieldByNumber(1), -1,
                                          &key);
      entries[key] = &entry;
    }
    for (const auto& [key, entry] : entries) {
      AddValue(*entry, *entry->GetDescriptor()->FindFieldByNumber(2), -1,
               absl::StrCat(path, "[", key, "]"));
    }
  }

  Values values_;
};

// Records for each value which step of completion added it.
class Reasons {
 public:
  void Note(const inference::ModelConfig& config, const std::string& why) {
    for (const auto& [path, value] : Flattener::Flatten(config)) {
      const auto [it, added] = seen_.try_emplace(path, std::make_pair(value, why));
      if (!added && it->second.first != value) it->second = {value, why};
    }
  }

  std::vector<EffectiveField> Fields(const inference::ModelConfig& config) const {
    std::vector<EffectiveField> fields;
    for (const auto& [path, value] : Flattener::Flatten(config)) {
      fields.push_back({path, value, seen_.at(path).second});
    }
    return fields;
  }

 private:
  std::map<std::string, std::pair<std::string, std::string>> seen_;
};

// The positions of the fields in a text.
class Places {
 public:
  explicit Places(const std::string& text) : text_(text) {
    TextFormat::Parser parser;
    parser.WriteLocationsTo(&tree_);
    google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    known_ = parser.Parse(&stream, &config_);
  }

  // The line (from 1) of `path` or of its nearest enclosing field; 0 if there is none.
  int LineOf(const std::string& path) const {
    if (!known_) return 0;
    if (absl::StartsWith(path, kParameters)) return LineOfKey(path.substr(kParameters.size()));
    const TextFormat::ParseInfoTree* tree = &tree_;
    const google::protobuf::Descriptor* message = config_.GetDescriptor();
    int line = 0;
    for (const absl::string_view step : absl::StrSplit(path, '.')) {
      const std::pair<std::string, int> part = Part(step);
      const FieldDescriptor* field =
          message == nullptr ? nullptr : message->FindFieldByName(part.first);
      if (field == nullptr || tree == nullptr) return line;
      const int index = field->is_repeated() ? std::max(0, part.second) : -1;
      // The elements of a list share the position of the list, which is that of its first element.
      for (int i = index; i >= std::min(0, index); --i) {
        const auto location = tree->GetLocation(field, i);
        if (location.line < 0) continue;
        line = location.line + 1;
        break;
      }
      tree = tree->GetTreeForNested(field, index);
      message = field->message_type();
    }
    return line;
  }

 private:
  static constexpr absl::string_view kParameters = "parameters.";

  // The first line with `key` in quotes: the parser knows the places of a map's entries, but not
  // which is which.
  int LineOfKey(const std::string& key) const {
    for (const absl::string_view quote : {"\"", "'"}) {
      const size_t at = text_.find(absl::StrCat(quote, key, quote));
      if (at == std::string::npos) continue;
      return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + at, '\n'));
    }
    return 0;
  }

  // "dims[3]" as name and index; index -1 if there is none.
  static std::pair<std::string, int> Part(absl::string_view step) {
    const size_t open = step.find('[');
    if (open == absl::string_view::npos) return {std::string(step), -1};
    int index = -1;
    const bool number = absl::SimpleAtoi(absl::StripSuffix(step.substr(open + 1), "]"), &index);
    return {std::string(step.substr(0, open)), number ? index : -1};
  }

  const std::string text_;
  TextFormat::ParseInfoTree tree_;
  inference::ModelConfig config_;
  bool known_ = false;
};

// A line "<file>:<line>:<column>: <text>" of the parser.
ConfigProblem ToProblem(const std::string& file, absl::string_view line) {
  ConfigProblem problem;
  problem.file = file;
  absl::ConsumePrefix(&line, absl::StrCat(file, ":"));
  const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
  if (parts.size() == 3 && absl::SimpleAtoi(parts[0], &problem.line)) line = parts[2];
  problem.text = std::string(absl::StripLeadingAsciiWhitespace(line));
  return problem;
}

std::string FileOf(const FileSystem& fs, const ConfigSource& source) {
  if (!source.model_config_name.empty()) {
    const std::string path =
        JoinPath(source.model_dir, absl::StrCat("configs/", source.model_config_name, ".pbtxt"));
    const absl::StatusOr<bool> exists = fs.Exists(path);
    if (exists.ok() && *exists) return path;
  }
  return JoinPath(source.model_dir, "config.pbtxt");
}

// Reads the text into `config`. If that fails, reports a problem and returns false.
bool ReadText(const FileSystem& fs, const ConfigSource& source, ExplainedConfig* explained,
              std::string* text, inference::ModelConfig* config) {
  explained->file = FileOf(fs, source);
  absl::StatusOr<std::string> content = fs.ReadFile(explained->file);
  explained->file_exists = content.ok();
  if (!content.ok()) {
    if (absl::IsNotFound(content.status()) && source.auto_complete) return true;
    ConfigProblem problem;
    problem.file = explained->file;
    problem.text = std::string(content.status().message());
    explained->problems.push_back(std::move(problem));
    return false;
  }
  *text = *std::move(content);
  const absl::Status parsed = ParseModelConfigText(explained->file, *text, config);
  if (parsed.ok()) return true;
  for (const absl::string_view line : absl::StrSplit(parsed.message(), '\n')) {
    explained->problems.push_back(ToProblem(explained->file, line));
  }
  return false;
}

void Check(const ConfigSource& source, const PlacementRules& rules,
           const inference::ModelConfig& config, ExplainedConfig* explained) {
  Diagnostics diagnostics;
  CheckConfig(config, &diagnostics);
  // A backend may still complete these, if auto-completion is on.
  if (!source.auto_complete || config.input_size() > 0) CheckTensors(config, &diagnostics);
  if (config.input_size() > 0) CheckBatchTensors(config, &diagnostics);
  CheckInstanceGroups(config, rules, &diagnostics);
  CheckGrowableStates(config, &diagnostics);
  CheckSupported(config, &diagnostics);
  if (config.name() != source.expected_name) {
    diagnostics.Add(
        "name",
        absl::StrCat("unexpected directory name '", source.expected_name, "' for model '",
                     config.name(), "', directory name must equal model name"),
        "leave it out");
  }
  const bool is_completed = source.auto_complete && config.platform() != kEnsemblePlatform;
  for (const Problem& problem : diagnostics.problems()) {
    if (problem.missing && is_completed) {
      explained->notes.push_back(absl::StrCat(
          problem.field, " is not given: the model loads if the backend completes it"));
      continue;
    }
    explained->problems.push_back({problem.text, problem.field, problem.hint, explained->file,
                                   explained->line_of(problem.field)});
  }
}

}  // namespace

ExplainedConfig ExplainModelConfig(const FileSystem& fs, const ConfigSource& source,
                                   const RulesOfBackend& rules_of) {
  ExplainedConfig explained;
  auto config = std::make_unique<inference::ModelConfig>();
  std::string text;
  if (!ReadText(fs, source, &explained, &text, config.get())) return explained;
  const auto places = std::make_shared<const Places>(text);
  explained.line_of = [places](const std::string& field) { return places->LineOf(field); };

  Reasons reasons;
  // Each step that follows completes the configuration and ends with a note: a value that is new or
  // has changed since the last note comes from this step.
  reasons.Note(*config, "");
  if (config->name().empty()) {
    config->set_name(source.expected_name);
    reasons.Note(*config, source.rename ? "given for this folder" : "name of the directory");
  } else if (source.rename && config->name() != source.expected_name) {
    config->set_name(source.expected_name);
    reasons.Note(*config, "given for this folder");
  }
  const absl::Status completed =
      AutocompleteBackend(fs, source.model_dir, source.expected_name, config.get());
  if (!completed.ok()) {
    explained.problems.push_back(
        {std::string(completed.message()), "backend", "", explained.file, 0});
  }
  reasons.Note(*config, "from the files of the first version");
  explained.notes = FieldsWithoutEffect(*config);
  NormalizeConfig(config.get());
  reasons.Note(*config, "default");
  // Only now, because the backend may have been completed above.
  const PlacementRules rules = rules_of ? rules_of(config->backend()) : PlacementRules();
  for (std::string& line : NormalizeInstanceGroups(rules, config.get())) {
    explained.notes.push_back(std::move(line));
  }
  reasons.Note(*config, "default, unless the backend prefers another");
  explained.fields = reasons.Fields(*config);
  if (config->input_size() == 0 || config->output_size() == 0) {
    if (source.auto_complete && config->platform() != kEnsemblePlatform) {
      explained.notes.push_back(
          "inputs and outputs that are not given are completed by the backend when the model "
          "loads");
    }
  }
  // Without a backend the other checks would only repeat, in other words, that it is missing.
  if (completed.ok()) Check(source, rules, *config, &explained);
  explained.config.emplace(std::move(config), explained.file_exists);
  return explained;
}

}  // namespace nereid
