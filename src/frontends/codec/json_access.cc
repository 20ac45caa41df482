// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/json_access.h"

#include <absl/strings/str_cat.h>

#include "base/status_macros.h"
#include "frontends/codec/known_names.h"

namespace nereid {
namespace {

absl::Status NotA(absl::string_view type) {
  return absl::InvalidArgumentError(
      absl::StrCat("attempt to access JSON non-", type, " as ", type));
}

}  // namespace

const JsonValue* FindMember(const JsonValue& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto member = object.FindMember(name);
  return member == object.MemberEnd() ? nullptr : &member->value;
}

absl::StatusOr<const JsonValue*> GetMember(const JsonValue& object, const char* name) {
  if (const JsonValue* value = FindMember(object, name)) return value;
  return absl::InvalidArgumentError(
      absl::StrCat("attempt to access non-existing object member '", name, "'"));
}

absl::StatusOr<absl::string_view> AsString(const JsonValue& value) {
  if (!value.IsString()) return NotA("string");
  return absl::string_view(value.GetString(), value.GetStringLength());
}

absl::StatusOr<bool> AsBool(const JsonValue& value) {
  if (!value.IsBool()) return NotA("boolean");
  return value.GetBool();
}

absl::StatusOr<int64_t> AsInt(const JsonValue& value) {
  if (!value.IsInt64()) return NotA("signed-integer");
  return value.GetInt64();
}

absl::StatusOr<uint64_t> AsUint(const JsonValue& value) {
  if (!value.IsUint64()) return NotA("unsigned-integer");
  return value.GetUint64();
}

absl::StatusOr<double> AsDouble(const JsonValue& value) {
  if (!value.IsNumber()) {
    return absl::InvalidArgumentError("attempt to access JSON non-number as double");
  }
  return value.GetDouble();
}

absl::Status CheckArray(const JsonValue& value) {
  return value.IsArray() ? absl::OkStatus() : NotA("array");
}

absl::Status CheckMembers(const JsonValue& value, absl::string_view what,
                          absl::Span<const absl::string_view> known) {
  if (!value.IsObject()) return NotA("object");
  for (const auto& member : value.GetObject()) {
    const absl::string_view name(member.name.GetString(), member.name.GetStringLength());
    RETURN_IF_ERROR(CheckKnown(what, name, known));
  }
  return absl::OkStatus();
}

absl::Status UnableToParse(absl::string_view field, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("Unable to parse '", field, "': ", status.message()));
}

}  // namespace nereid
