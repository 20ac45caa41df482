#include "frontends/codec/json_parse.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <limits>

#include "base/status_macros.h"
#include "frontends/codec/v2_document.h"

namespace nereid {
namespace {

// Refuses deep nesting, with which a small hostile text could cost much memory and stack.
absl::Status CheckNesting(absl::string_view json, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth + kEnvelopeNesting) {
        return absl::InvalidArgumentError(
            absl::StrCat("JSON nesting depth exceeds maximum allowed limit (", max_depth, ")"));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return absl::OkStatus();
}

// Builds the tree, but converts the numbers itself: rapidjson's conversion is either inexact or,
// for some exponents, reads beyond a table of its own.
class TreeBuilder {
 public:
  explicit TreeBuilder(rapidjson::Document* tree) : tree_(tree) {}

  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    const absl::string_view number(text, length);
    const bool negative = number[0] == '-';
    const char first = number[negative ? 1 : 0];
    if (first == 'N' || first == 'I') return NoNumber(number.substr(negative ? 1 : 0), negative);
    if (number.find_first_of(".eE") == absl::string_view::npos) {
      int64_t integer;
      uint64_t positive;
      if (absl::SimpleAtoi(number, &integer)) return tree_->Int64(integer);
      if (!negative && absl::SimpleAtoi(number, &positive)) return tree_->Uint64(positive);
    }
    double value;
    return absl::SimpleAtod(number, &value) && tree_->Double(value);
  }

  bool Null() { return tree_->Null(); }
  bool Bool(bool value) { return tree_->Bool(value); }
  bool String(const char* text, rapidjson::SizeType length, bool copy) {
    return tree_->String(text, length, copy);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool copy) {
    return tree_->Key(text, length, copy);
  }
  bool StartObject() { return tree_->StartObject(); }
  bool EndObject(rapidjson::SizeType count) { return tree_->EndObject(count); }
  bool StartArray() { return tree_->StartArray(); }
  bool EndArray(rapidjson::SizeType count) { return tree_->EndArray(count); }

  // rapidjson's reader requires these functions, but calls RawNumber for all numbers.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  bool NoNumber(absl::string_view name, bool negative) {
    if (name == "NaN") return tree_->Double(std::numeric_limits<double>::quiet_NaN());
    if (name != "Inf" && name != "Infinity") return false;
    const double infinity = std::numeric_limits<double>::infinity();
    return tree_->Double(negative ? -infinity : infinity);
  }

  rapidjson::Document* const tree_;
};

}  // namespace

absl::Status ParseJson(absl::string_view json, int max_depth, rapidjson::Document* tree) {
  RETURN_IF_ERROR(CheckNesting(json, max_depth));
  constexpr unsigned kFlags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::ParseResult result;
  auto parse = [&](rapidjson::Document& document) {
    rapidjson::MemoryStream bytes(json.data(), json.size());
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> text(bytes);
    TreeBuilder builder(&document);
    rapidjson::Reader reader;
    result = reader.Parse<kFlags>(text, builder);
    return !result.IsError();
  };
  tree->Populate(parse);
  if (!result.IsError()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "failed to parse the request JSON buffer: ", rapidjson::GetParseError_En(result.Code()),
      " at ", result.Offset()));
}

std::string JsonText(const rapidjson::Value& tree) {
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  tree.Accept(writer);
  return {text.GetString(), text.GetSize()};
}

}  // namespace nereid
