// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <charconv>
#include <system_error>

namespace nereid_backend {
namespace {

// Limits the depth of the stack when a value is written or destroyed.
constexpr size_t kMaxDepth = 256;

// Builds a Json from rapidjson's events: one open container per level.
class Builder {
 public:
  bool Null() { return Put(Json()); }
  bool Bool(bool value) { return Put(Json(value)); }
  // All numbers, as their text: rapidjson's own conversion fails for some exponents.
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const char* const end = text + size;
    int64_t integer;
    const auto as_integer = std::from_chars(text, end, integer);
    if (as_integer.ptr == end && as_integer.ec == std::errc()) return Put(Json(integer));
    double value;
    const auto as_double = std::from_chars(text, end, value);
    return as_double.ptr == end && as_double.ec == std::errc() && Put(Json(value));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return Put(Json(std::string(text, size)));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    open_.back().key.assign(text, size);
    return true;
  }
  bool StartObject() { return Open(true); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(false); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

  // rapidjson requires these functions; all numbers come through RawNumber.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  Json Take() { return std::move(root_); }
  // Why the builder ended the parsing.
  std::string refusal() const {
    if (open_.size() < kMaxDepth) return "a number that a double cannot hold";
    return StrCat("more than ", kMaxDepth, " arrays and objects in one another");
  }

 private:
  struct Level {
    bool is_object;
    Json::Object members;
    Json::Array items;
    std::string key;
  };

  bool Open(bool is_object) {
    if (open_.size() >= kMaxDepth) return false;
    open_.push_back(Level{is_object, {}, {}, {}});
    return true;
  }

  bool Close() {
    Level level = std::move(open_.back());
    open_.pop_back();
    return Put(level.is_object ? Json(std::move(level.members)) : Json(std::move(level.items)));
  }

  bool Put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.emplace_back(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Level> open_;
  Json root_;
};

// As Python reads and writes doubles that JSON lacks.
constexpr unsigned kReading = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseNanAndInfFlag;
using Writer = rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                                 rapidjson::CrtAllocator, rapidjson::kWriteNanAndInfFlag>;

}  // namespace

Result<Json> Json::Parse(std::string_view text) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Builder builder;
  // Iterative, so that a deeply nested document does not exhaust the stack.
  const rapidjson::ParseResult result = reader.Parse<kReading>(stream, builder);
  if (result.IsError()) {
    return Error::InvalidArg(StrCat("failed to parse JSON at offset ", result.Offset(), ": ",
                                    result.Code() == rapidjson::kParseErrorTermination
                                        ? builder.refusal()
                                        : rapidjson::GetParseError_En(result.Code())));
  }
  return builder.Take();
}

// `writer` is a Writer; its type is hidden because the header does not include rapidjson.
void Json::WriteTo(const Json& json, void* opaque) {
  auto* writer = static_cast<Writer*>(opaque);
  std::visit(
      [writer](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          writer->Null();
        } else if constexpr (std::is_same_v<T, bool>) {
          writer->Bool(value);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          writer->Int64(value);
        } else if constexpr (std::is_same_v<T, double>) {
          writer->Double(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          writer->String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
        } else if constexpr (std::is_same_v<T, Array>) {
          writer->StartArray();
          for (const Json& item : value) WriteTo(item, writer);
          writer->EndArray();
        } else {
          writer->StartObject();
          for (const auto& [key, member] : value) {
            writer->Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
            WriteTo(member, writer);
          }
          writer->EndObject();
        }
      },
      json.value_);
}

std::string Json::Write() const {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  WriteTo(*this, &writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

const Json& Json::operator[](std::string_view key) const {
  static const Json kNull;
  for (const auto& [name, value] : members()) {
    if (name == key) return value;
  }
  return kNull;
}

const Json::Array& Json::items() const {
  static const Array kEmpty;
  const Array* array = std::get_if<Array>(&value_);
  return array != nullptr ? *array : kEmpty;
}

const Json::Object& Json::members() const {
  static const Object kEmpty;
  const Object* object = std::get_if<Object>(&value_);
  return object != nullptr ? *object : kEmpty;
}

std::string Json::AsString(std::string_view fallback) const {
  const std::string* text = std::get_if<std::string>(&value_);
  return text != nullptr ? *text : std::string(fallback);
}

int64_t Json::AsInt(int64_t fallback) const {
  if (const int64_t* number = std::get_if<int64_t>(&value_)) return *number;
  const std::string* text = std::get_if<std::string>(&value_);
  if (text == nullptr) return fallback;
  int64_t parsed = 0;
  const char* end = text->data() + text->size();
  const auto [at, code] = std::from_chars(text->data(), end, parsed);
  return code == std::errc() && at == end ? parsed : fallback;
}

double Json::AsDouble(double fallback) const {
  const double* number = std::get_if<double>(&value_);
  return number != nullptr ? *number : fallback;
}

bool Json::AsBool(bool fallback) const {
  const bool* value = std::get_if<bool>(&value_);
  return value != nullptr ? *value : fallback;
}

std::vector<int64_t> Json::AsInts() const {
  std::vector<int64_t> values;
  for (const Json& item : items()) values.push_back(item.AsInt());
  return values;
}

void Json::Set(std::string_view key, Json value) {
  if (is_null()) value_ = Object();
  Object& object = std::get<Object>(value_);
  for (auto& [name, old] : object) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  object.emplace_back(std::string(key), std::move(value));
}

Json JsonInts(const std::vector<int64_t>& values) {
  return Json(Json::Array(values.begin(), values.end()));
}

}  // namespace nereid_backend
