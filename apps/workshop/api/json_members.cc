// SPDX-License-Identifier: Apache-2.0
#include "api/json_members.h"

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr int kMostDepth = 16;
constexpr uint64_t kMostJsonBytes = 64 << 20;

template <class Value, class As>
void ReadAs(const JsonValue& from, const char* name, As as, Value* to) {
  const JsonValue* const member = FindMember(from, name);
  if (member == nullptr) return;
  if (const auto value = as(*member); value.ok()) *to = Value(*value);
}

}  // namespace

void ReadMember(const JsonValue& from, const char* name, std::string* to) {
  ReadAs(from, name, AsString, to);
}

void ReadMember(const JsonValue& from, const char* name, uint64_t* to) {
  ReadAs(from, name, AsUint, to);
}

void ReadMember(const JsonValue& from, const char* name, int64_t* to) {
  ReadAs(from, name, AsInt, to);
}

void ReadMember(const JsonValue& from, const char* name, double* to) {
  ReadAs(from, name, AsDouble, to);
}

void ReadMember(const JsonValue& from, const char* name, bool* to) {
  ReadAs(from, name, AsBool, to);
}

void ReadMember(const JsonValue& from, const char* name, std::map<std::string, uint64_t>* to) {
  const JsonValue* const object = FindMember(from, name);
  if (object == nullptr || !object->IsObject()) return;
  for (const auto& member : object->GetObject()) {
    if (const auto number = AsUint(member.value); number.ok()) {
      (*to)[member.name.GetString()] = *number;
    }
  }
}

void ReadEach(const JsonValue& from, const char* name,
              const std::function<void(const JsonValue&)>& read) {
  const JsonValue* const array = FindMember(from, name);
  if (array == nullptr || !array->IsArray()) return;
  for (const JsonValue& element : array->GetArray()) read(element);
}

absl::Status ParseAnswer(absl::string_view json, const char* member, JsonTree* tree) {
  RETURN_IF_ERROR(ParseJson(json, kMostDepth, ParseBudget::UpTo(kMostJsonBytes), tree));
  if (FindMember(*tree, member) == nullptr) {
    return absl::InvalidArgumentError("the answer is not one of /v2/nereid");
  }
  return absl::OkStatus();
}

std::string ReadError(absl::string_view json) {
  JsonTree tree;
  if (!ParseJson(json, kMostDepth, ParseBudget::UpTo(kMostJsonBytes), &tree).ok()) return "";
  std::string error;
  ReadMember(tree, "error", &error);
  return error;
}

std::string Clean(absl::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = '?';
  }
  return clean;
}

}  // namespace nereid
