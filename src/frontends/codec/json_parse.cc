// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/json_parse.h"

#include <absl/status/statusor.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/v2_document.h"

namespace nereid {
namespace {

// The memory that the tree of a text takes at most. Refuses deep nesting, with which a small
// hostile text could cost much stack.
absl::StatusOr<uint64_t> MeasureTree(absl::string_view json, int max_depth) {
  // Counts punctuation instead of parsing, because it runs before memory may be taken: each value
  // but the first follows a bracket, a comma or a colon. A text that is no JSON is measured, too;
  // the parser refuses it.
  int depth = 0;
  uint64_t values = 1;
  uint64_t string_bytes = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '"': {
        const size_t start = i++;
        while (i < json.size() && json[i] != '"') i += json[i] == '\\' ? 2 : 1;
        string_bytes += i - start;
        break;
      }
      case '[':
      case '{':
        ++values;
        if (++depth > max_depth + kEnvelopeNesting) {
          return absl::InvalidArgumentError(
              absl::StrCat("JSON nesting depth exceeds maximum allowed limit (", max_depth, ")"));
        }
        break;
      case ']':
      case '}':
        --depth;
        break;
      case ',':
      case ':':
        ++values;
        break;
      default:
        break;
    }
  }
  return values * kTreeCostPerValue + string_bytes * kTreeCostPerStringByte;
}

// Builds the tree, but converts the numbers itself: rapidjson's conversion is either inexact or,
// for some exponents, reads beyond a table of its own.
class TreeBuilder {
 public:
  explicit TreeBuilder(JsonDocument* tree) : tree_(tree) {}

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
    if (!absl::SimpleAtod(number, &value)) return false;
    too_big_ = std::isinf(value);
    return !too_big_ && tree_->Double(value);
  }
  // Whether the text ended at a number beyond the range of a double.
  bool too_big() const { return too_big_; }

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

  JsonDocument* const tree_;
  bool too_big_ = false;
};

using Reader = rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, JsonMemory>;

absl::Status BuildTree(absl::string_view json, JsonDocument* tree) {
  constexpr unsigned kFlags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag;
  rapidjson::ParseResult result;
  bool too_big = false;
  auto parse = [&](JsonDocument& document) {
    rapidjson::MemoryStream bytes(json.data(), json.size());
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> text(bytes);
    TreeBuilder builder(&document);
    Reader reader;
    result = reader.Parse<kFlags>(text, builder);
    too_big = builder.too_big();
    return !result.IsError();
  };
  tree->Populate(parse);
  if (!result.IsError()) return absl::OkStatus();
  const rapidjson::ParseErrorCode code =
      too_big ? rapidjson::kParseErrorNumberTooBig : result.Code();
  return absl::InvalidArgumentError(
      absl::StrCat("failed to parse the request JSON buffer: ", rapidjson::GetParseError_En(code),
                   " at ", result.Offset()));
}

}  // namespace

absl::Status ParseJson(absl::string_view json, int max_depth, const ParseBudget& budget,
                       JsonTree* tree) {
  // rapidjson counts the bytes of strings and the elements of arrays in 32 bits.
  if (json.size() > std::numeric_limits<rapidjson::SizeType>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("a JSON text of ", json.size(),
                                                   " bytes is too long: at most ",
                                                   std::numeric_limits<rapidjson::SizeType>::max(),
                                                   " bytes are read; send tensors in binary form"));
  }
  ASSIGN_OR_RETURN(const uint64_t cost, MeasureTree(json, max_depth));
  ASSIGN_OR_RETURN(BudgetUnits units, budget.Take(json.size(), cost));
  try {
    tree->Reset(std::move(units));
    return BuildTree(json, tree);
  } catch (const std::bad_alloc&) {
    return absl::UnavailableError(
        absl::StrCat("out of memory for reading a JSON text of ", json.size(), " bytes"));
  }
}

std::string JsonText(const JsonValue& tree) {
  using Text = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, JsonMemory>;
  Text text;
  rapidjson::Writer<Text, rapidjson::UTF8<>, rapidjson::UTF8<>, JsonMemory> writer(text);
  tree.Accept(writer);
  return {text.GetString(), text.GetSize()};
}

}  // namespace nereid
