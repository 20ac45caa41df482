// SPDX-License-Identifier: Apache-2.0
// Part of the careful JSON reader: members and values of a parsed JSON text, with the error texts
// that clients know. Pure functions.
#ifndef NEREID_FRONTENDS_CODEC_JSON_ACCESS_H_
#define NEREID_FRONTENDS_CODEC_JSON_ACCESS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <rapidjson/document.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nereid {

// Memory for rapidjson, which does not look whether it got any: want of memory is the exception of
// the standard library here, and ParseJson (json_parse.h) makes it an error.
class JsonMemory {
 public:
  static constexpr bool kNeedFree = true;
  void* Malloc(size_t size) { return size == 0 ? nullptr : Checked(std::malloc(size)); }
  void* Realloc(void* block, size_t /*old_size*/, size_t size) {
    if (size > 0) return Checked(std::realloc(block, size));
    std::free(block);
    return nullptr;
  }
  static void Free(void* block) { std::free(block); }

 private:
  static void* Checked(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
};

using JsonAllocator = rapidjson::MemoryPoolAllocator<JsonMemory>;
using JsonValue = rapidjson::GenericValue<rapidjson::UTF8<>, JsonAllocator>;
using JsonDocument = rapidjson::GenericDocument<rapidjson::UTF8<>, JsonAllocator, JsonMemory>;

// The first member with that name; null if there is none or if `object` is not an object.
const JsonValue* FindMember(const JsonValue& object, const char* name);
// As above, but INVALID_ARGUMENT "attempt to access non-existing object member '<name>'".
absl::StatusOr<const JsonValue*> GetMember(const JsonValue& object, const char* name);

// INVALID_ARGUMENT "attempt to access JSON non-<type> as <type>" for any other kind of value.
absl::StatusOr<absl::string_view> AsString(const JsonValue& value);
absl::StatusOr<bool> AsBool(const JsonValue& value);
absl::StatusOr<int64_t> AsInt(const JsonValue& value);
absl::StatusOr<uint64_t> AsUint(const JsonValue& value);
absl::StatusOr<double> AsDouble(const JsonValue& value);
absl::Status CheckArray(const JsonValue& value);

// INVALID_ARGUMENT for anything but an object, and for an object with a member that is none of
// `known` (known_names.h). `what` describes a member: "log setting".
absl::Status CheckMembers(const JsonValue& value, absl::string_view what,
                          absl::Span<const absl::string_view> known);

// "Unable to parse '<field>': <text of status>"; OK stays OK.
absl::Status UnableToParse(absl::string_view field, const absl::Status& status);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_ACCESS_H_
