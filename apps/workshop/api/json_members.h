// SPDX-License-Identifier: Apache-2.0
// Reads members of a server's JSON answer into values. A member that is missing, or of another
// kind, leaves the value as it is: a newer or older server may leave some out. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_API_JSON_MEMBERS_H_
#define NEREID_APPS_WORKSHOP_API_JSON_MEMBERS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"

namespace nereid {

void ReadMember(const JsonValue& from, const char* name, std::string* to);
void ReadMember(const JsonValue& from, const char* name, uint64_t* to);
void ReadMember(const JsonValue& from, const char* name, int64_t* to);
void ReadMember(const JsonValue& from, const char* name, double* to);
void ReadMember(const JsonValue& from, const char* name, bool* to);
// An object whose members are all numbers; others are left out.
void ReadMember(const JsonValue& from, const char* name, std::map<std::string, uint64_t>* to);
// Calls `read` with each element of the array `name`.
void ReadEach(const JsonValue& from, const char* name,
              const std::function<void(const JsonValue&)>& read);

// INVALID_ARGUMENT if `json` is no answer of /v2/nereid that has this member.
absl::Status ParseAnswer(absl::string_view json, const char* member, JsonTree* tree);
// The sentence of an answer that is an error; empty if it is none.
std::string ReadError(absl::string_view json);
// Texts of servers go to a terminal: without control characters.
std::string Clean(absl::string_view text);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_API_JSON_MEMBERS_H_
