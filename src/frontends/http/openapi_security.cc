// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/openapi_security.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace nereid {
namespace {

constexpr char kKeyScheme[] = "apiKey";
constexpr char kKey[] =
    R"({"type":"http","scheme":"bearer","description":"A key of the server's file of API keys"})";

void WriteNeed(const std::string& scheme, JsonWriter* w) {
  w->BeginArray(scheme);
  w->EndArray();
}

}  // namespace

OpenApiSecurity::OpenApiSecurity(const AccessControl& access) {
  for (size_t i = 0; i < kApiGroups; ++i) {
    needs_[i] = access.NeedsOf(static_cast<ApiGroup>(i));
    keys_ = keys_ || needs_[i].key;
    const std::string& header = needs_[i].header;
    if (!header.empty() && std::find(headers_.begin(), headers_.end(), header) == headers_.end()) {
      headers_.push_back(header);
    }
  }
}

// Not named after the header, which may have characters that names of schemes must not have.
std::string OpenApiSecurity::SchemeOf(const std::string& header) const {
  return absl::StrCat("header",
                      std::find(headers_.begin(), headers_.end(), header) - headers_.begin() + 1);
}

void OpenApiSecurity::WriteSchemes(JsonWriter* w) const {
  if (!keys_ && headers_.empty()) return;
  w->BeginObject("securitySchemes");
  if (keys_) {
    w->AddRaw(kKeyScheme, kKey);
  }
  for (const std::string& header : headers_) {
    w->BeginObject(SchemeOf(header));
    w->Add("type", "apiKey");
    w->Add("in", "header");
    w->Add("name", header);
    w->Add("description", "The value that opens a restricted group of the API");
    w->EndObject();
  }
  w->EndObject();
}

void OpenApiSecurity::WriteNeeds(ApiGroup group, JsonWriter* w) const {
  const AccessControl::Needs& needs = needs_[static_cast<size_t>(group)];
  if (!needs.key && needs.header.empty()) return;
  w->BeginArray("security");
  w->BeginObject();  // all that one object names is needed together
  if (needs.key) WriteNeed(kKeyScheme, w);
  if (!needs.header.empty()) WriteNeed(SchemeOf(needs.header), w);
  w->EndObject();
  w->EndArray();
}

}  // namespace nereid
