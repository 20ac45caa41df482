// SPDX-License-Identifier: Apache-2.0
// Json: a small JSON value, for model configurations and backend settings. rapidjson parses and
// prints it; no other file of the backends sees rapidjson. A value; thread-compatible.
#ifndef NEREID_BACKENDS_SDK_JSON_H_
#define NEREID_BACKENDS_SDK_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;  // in document order

  Json() = default;                                        // null
  Json(bool value) : value_(value) {}                      // NOLINT(google-explicit-constructor)
  Json(int64_t value) : value_(value) {}                   // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(Array value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Json(Object value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)

  // A default object and an assignment, because the copy constructor of libstdc++ 12's variant is
  // unsafe if memory runs out: it destroys a value that was never constructed.
  Json(const Json& other) { value_ = other.value_; }
  Json(Json&&) = default;
  Json& operator=(const Json&) = default;
  Json& operator=(Json&&) = default;

  static Json MakeObject() { return Json(Object()); }

  // INVALID_ARG with the position if `text` is not exactly one JSON value, or is nested more than
  // 256 deep. Integers beyond 64 bits signed become doubles. NaN, Infinity and -Infinity, which
  // Python writes for doubles, are read as such.
  static Result<Json> Parse(std::string_view text);
  // Compact text, which Parse reads.
  std::string Write() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_double() const { return std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }

  // Member `key` of an object; a shared null if there is none or if this is not an object.
  const Json& operator[](std::string_view key) const;
  bool Has(std::string_view key) const { return !(*this)[key].is_null(); }
  // Elements of an array, members of an object; empty for anything else.
  const Array& items() const;
  const Object& members() const;

  // The value as the type named, or `fallback` if it has another type. Protobuf's JSON prints
  // 64-bit integers as strings, so AsInt also takes a string of digits.
  std::string AsString(std::string_view fallback = "") const;
  int64_t AsInt(int64_t fallback = 0) const;
  double AsDouble(double fallback = 0) const;
  bool AsBool(bool fallback = false) const;
  // An array of integers.
  std::vector<int64_t> AsInts() const;

  // Sets (adds or replaces) a member; turns a null into an object. REQUIRES: null or object.
  void Set(std::string_view key, Json value);

 private:
  static void WriteTo(const Json& json, void* writer);
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

// An array of integers as JSON.
Json JsonInts(const std::vector<int64_t>& values);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_JSON_H_
