// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes JSON text into a string, token by token. Thread-compatible.
//
//   JsonWriter w(&out);
//   w.BeginObject(); w.Add("name", name); w.BeginArray("shape"); w.Int(1); ... w.EndArray();
//   w.EndObject();
//
// The writer adds the commas; the caller keeps Begin and End balanced. Floating-point numbers are
// written as the shortest text that reads back to the same value, `.0` added to integral values;
// NaN and infinities as NaN, Infinity, -Infinity, as the official client reads them.
#ifndef NEREID_BASE_JSON_WRITER_H_
#define NEREID_BASE_JSON_WRITER_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "base/export.h"

namespace nereid {

// Appends `text` as a JSON string with quotes. Control characters are escaped; bytes that are
// not valid UTF-8 are replaced by U+FFFD, so that the output is always valid JSON. False if there
// were any.
NEREID_API bool AppendJsonString(absl::string_view text, std::string* out);
NEREID_API void AppendJsonFloat(float value, std::string* out);
NEREID_API void AppendJsonDouble(double value, std::string* out);

class NEREID_API JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(absl::string_view key);
  // False if bytes had to be replaced.
  bool String(absl::string_view value);
  void Int(int64_t value);
  void Uint(uint64_t value);
  void Bool(bool value);
  void Null();
  void Float(float value);
  void Double(double value);
  // `json` is complete JSON text, inserted unchanged.
  void Raw(absl::string_view json);

  // A member of the open object: `value` is a text, a number or a bool.
  template <typename T>
  void Add(absl::string_view key, const T& value) {
    Key(key);
    if constexpr (std::is_same_v<T, bool>) {
      Bool(value);
    } else if constexpr (std::is_same_v<T, float>) {
      Float(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      Double(value);
    } else if constexpr (std::is_signed_v<T>) {
      Int(value);
    } else if constexpr (std::is_unsigned_v<T>) {
      Uint(value);
    } else {
      String(value);
    }
  }
  void AddRaw(absl::string_view key, absl::string_view json);
  void BeginObject(absl::string_view key);
  void BeginArray(absl::string_view key);

 private:
  void Separate();
  void Open(char c);
  void Close(char c);

  std::string* out_;
  bool need_comma_ = false;
};

}  // namespace nereid

#endif  // NEREID_BASE_JSON_WRITER_H_
