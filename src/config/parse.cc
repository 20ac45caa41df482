// SPDX-License-Identifier: Apache-2.0
#include "config/parse.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "config/nearest_name.h"
#include "config/utf8.h"
#include "model_config.pb.h"

namespace nereid {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// The configuration itself is 6 messages deep. Unknown fields, which are skipped, are bounded too.
constexpr int kMaxDepth = 64;
// Maximum number of bad values searched for: each costs a pass over the text.
constexpr int kMaxRepairs = 20;

// The quoted parts of a message of the parser.
std::vector<std::string> Quoted(absl::string_view message) {
  const std::vector<std::string> pieces = absl::StrSplit(message, '"');
  std::vector<std::string> quoted;
  for (size_t i = 1; i < pieces.size(); i += 2) quoted.push_back(pieces[i]);
  return quoted;
}

// `message_type`: its public name; our own copy is in the package nereid.inference.
std::vector<std::string> FieldNames(const std::string& message_type) {
  std::vector<std::string> names;
  const Descriptor* message =
      inference::ModelConfig::descriptor()->file()->pool()->FindMessageTypeByName(
          absl::StrCat("nereid.", message_type));
  if (message == nullptr) return names;
  for (int i = 0; i < message->field_count(); ++i) names.push_back(message->field(i)->name());
  return names;
}

// Values that a field with this name may have in any message, because the parser's error does not
// name the message.
void CollectEnumValues(const Descriptor* message, const std::string& field_name,
                       std::vector<std::string>* names) {
  const FieldDescriptor* field = message->FindFieldByName(field_name);
  const EnumDescriptor* type = field != nullptr ? field->enum_type() : nullptr;
  for (int i = 0; type != nullptr && i < type->value_count(); ++i) {
    const std::string& name = type->value(i)->name();
    if (!absl::EndsWith(name, "_INVALID")) names->push_back(name);  // nobody means that
  }
  for (int i = 0; i < message->nested_type_count(); ++i) {
    CollectEnumValues(message->nested_type(i), field_name, names);
  }
}

std::vector<std::string> EnumValues(const std::string& field_name) {
  std::vector<std::string> names;
  const google::protobuf::FileDescriptor* file = inference::ModelConfig::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    CollectEnumValues(file->message_type(i), field_name, &names);
  }
  return names;
}

// The values that begin with `name`, if there are several.
std::vector<std::string> Completions(const std::string& name,
                                     const std::vector<std::string>& values) {
  std::vector<std::string> completions;
  for (const std::string& value : values) {
    if (!name.empty() && absl::StartsWith(value, name)) completions.push_back(value);
  }
  return completions.size() > 1 ? completions : std::vector<std::string>();
}

// " (did you mean 'x'?)", " (one of x, y)", or nothing.
std::string Suggestion(absl::string_view message) {
  const std::vector<std::string> quoted = Quoted(message);
  std::string nearest;
  if (absl::StrContains(message, "has no field named") && quoted.size() == 2) {
    nearest = NearestName(quoted[1], FieldNames(quoted[0]));
  } else if (absl::StrContains(message, "Unknown enumeration value") && quoted.size() == 2) {
    const std::vector<std::string> values = EnumValues(quoted[1]);
    const std::vector<std::string> completions = Completions(quoted[0], values);
    if (!completions.empty())
      return absl::StrCat(" (one of ", absl::StrJoin(completions, ", "), ")");
    nearest = NearestName(quoted[0], values);
  }
  return nearest.empty() ? "" : absl::StrCat(" (did you mean '", nearest, "'?)");
}

struct ParseError {
  int line;  // from 0; -1: the text as a whole is wrong
  int column;
  std::string message;
};

class ErrorCollector final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    errors_.push_back(
        {line, column, absl::StrReplaceAll(message, {{"\"nereid.inference.", "\"inference."}})});
  }
  // Unknown fields: the parser is told to skip them, so that it finds other errors, too.
  void AddWarning(int line, int column, const std::string& message) override {
    AddError(line, column, message);
  }

  std::vector<ParseError>& errors() { return errors_; }

 private:
  std::vector<ParseError> errors_;
};

// The parser's columns: a tab advances to the next multiple of 8.
int NextColumn(char c, int column) { return c == '\t' ? column + 8 - column % 8 : column + 1; }

void SetPlace(absl::string_view text, size_t offset, ParseError* error) {
  error->line = 0;
  error->column = 0;
  for (const char c : text.substr(0, offset)) {
    error->column = c == '\n' ? 0 : NextColumn(c, error->column);
    error->line += c == '\n';
  }
}

// The bad value reported by `error`; empty if the error is not about a value.
std::string BadValue(const ParseError& error) {
  absl::string_view message = error.message;
  if (absl::StartsWith(message, "Unknown enumeration value")) {
    const std::vector<std::string> quoted = Quoted(message);
    return quoted.empty() ? "" : quoted[0];
  }
  if (absl::ConsumePrefix(&message, "Integer out of range (") &&
      absl::ConsumeSuffix(&message, ")")) {
    return std::string(message);
  }
  if (!absl::ConsumePrefix(&message, "Expected integer, got: ") || message.empty()) return "";
  const bool is_value = absl::ascii_isalnum(message[0]) || message[0] == '"' || message[0] == '-';
  return is_value ? std::string(message) : "";
}

// The parser cannot skip an unknown list of messages (`name [ { ... } ]`) unless a colon follows
// the name. Inserts a colon. False if `error` is about something else.
bool RepairList(std::string* text, const ParseError& error) {
  if (error.message != "Expected \"{\", found \"[\".") return false;
  const size_t at = OffsetOf(*text, error.line, error.column);
  if (at == 0 || (*text)[at - 1] != ' ') return false;
  (*text)[at - 1] = ':';
  return true;
}

// The parser stops at an unacceptable value. Replaces it by an acceptable one of the same length,
// so that the next pass gets past it. False if that is impossible.
bool RepairValue(std::string* text, ParseError* error) {
  const std::string value = BadValue(*error);
  if (value.empty()) return false;
  const size_t reported = OffsetOf(*text, error->line, error->column);
  // Unknown enumeration values are reported at the token that follows.
  const size_t at = text->rfind(value, reported);
  if (at == std::string::npos) return false;
  SetPlace(*text, at, error);
  std::string replacement(value.size(), ' ');
  if (value != "-") replacement[0] = '0';
  text->replace(at, value.size(), replacement);
  return true;
}

// Unknown fields are reported at the token that follows: moves the position back to the name.
void PointAtName(absl::string_view text, ParseError* error) {
  if (!absl::StrContains(error->message, "has no field named")) return;
  const std::vector<std::string> quoted = Quoted(error->message);
  if (quoted.size() != 2) return;
  const size_t at = text.rfind(quoted[1], OffsetOf(text, error->line, error->column));
  if (at != absl::string_view::npos) SetPlace(text, at, error);
}

// One pass over `text`: true if it reached the end, perhaps past unknown fields.
bool RunParser(const std::string& text, inference::ModelConfig* config, ErrorCollector* errors) {
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(errors);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxDepth);
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  return parser.Parse(&stream, config);
}

// All errors in `text`, in order; none if it was parsed into `config`.
std::vector<ParseError> FindErrors(std::string text, inference::ModelConfig* config) {
  std::vector<ParseError> errors;
  for (int run = 0; run <= kMaxRepairs; ++run) {
    ErrorCollector collector;
    const bool parsed = RunParser(text, config, &collector);
    std::vector<ParseError>& found = collector.errors();
    if (!parsed && found.empty()) found.push_back({-1, 0, "not a model configuration"});
    const bool may_repair = !parsed && run < kMaxRepairs;
    if (may_repair && RepairList(&text, found.back())) continue;
    if (may_repair && RepairValue(&text, &found.back())) {
      // Another pass finds the unknown fields again, but not this error.
      errors.push_back(std::move(found.back()));
      continue;
    }
    for (ParseError& error : found) {
      PointAtName(text, &error);
      errors.push_back(std::move(error));
    }
    break;
  }
  std::stable_sort(errors.begin(), errors.end(), [](const ParseError& a, const ParseError& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return errors;
}

std::string Describe(const std::string& path, const ParseError& error) {
  const std::string where =
      error.line < 0 ? path : absl::StrCat(path, ":", error.line + 1, ":", error.column + 1);
  return absl::StrCat(where, ": ", error.message, Suggestion(error.message));
}

}  // namespace

size_t OffsetOf(absl::string_view text, int line, int column) {
  size_t at = 0;
  for (; line > 0; --line) {
    const size_t end = text.find('\n', at);
    if (end == absl::string_view::npos) return text.size();
    at = end + 1;
  }
  for (int c = 0; c < column && at < text.size() && text[at] != '\n'; ++at) {
    c = NextColumn(text[at], c);
  }
  return at;
}

absl::Status ParseModelConfigText(const std::string& path, absl::string_view text,
                                  inference::ModelConfig* config) {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": larger than 2 GiB"));
  }
  const std::vector<ParseError> errors = FindErrors(std::string(text), config);
  if (errors.empty()) {
    const std::string field = FindFieldWithInvalidUtf8(*config);
    if (field.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the value of '", field, "' is not valid UTF-8"));
  }
  return absl::InvalidArgumentError(absl::StrJoin(
      errors, "\n",
      [&path](std::string* out, const ParseError& error) { out->append(Describe(path, error)); }));
}

}  // namespace nereid
