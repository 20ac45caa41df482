// Part of the careful JSON reader: members and values of a parsed JSON text, with the error texts
// that clients know. Pure functions.
#ifndef NEREID_FRONTENDS_CODEC_JSON_ACCESS_H_
#define NEREID_FRONTENDS_CODEC_JSON_ACCESS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <rapidjson/document.h>

#include <cstdint>

namespace nereid {

using JsonValue = rapidjson::Value;

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

// "Unable to parse '<field>': <text of status>"; OK stays OK.
absl::Status UnableToParse(absl::string_view field, const absl::Status& status);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_ACCESS_H_
