#include "frontends/http/openapi_security.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace nereid {
namespace {

constexpr char kKeyScheme[] = "apiKey";
constexpr char kKey[] =
    R"({"type":"http","scheme":"bearer","description":"A key of the server's file of API keys"})";

void WriteNeed(const std::string& scheme, JsonWriter* w) {
  w->Key(scheme);
  w->BeginArray();
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
  w->Key("securitySchemes");
  w->BeginObject();
  if (keys_) {
    w->Key(kKeyScheme);
    w->Raw(kKey);
  }
  for (const std::string& header : headers_) {
    w->Key(SchemeOf(header));
    w->BeginObject();
    w->Key("type");
    w->String("apiKey");
    w->Key("in");
    w->String("header");
    w->Key("name");
    w->String(header);
    w->Key("description");
    w->String("The value that opens a restricted group of the API");
    w->EndObject();
  }
  w->EndObject();
}

void OpenApiSecurity::WriteNeeds(ApiGroup group, JsonWriter* w) const {
  const AccessControl::Needs& needs = needs_[static_cast<size_t>(group)];
  if (!needs.key && needs.header.empty()) return;
  w->Key("security");
  w->BeginArray();
  w->BeginObject();  // all that one object names is needed together
  if (needs.key) WriteNeed(kKeyScheme, w);
  if (!needs.header.empty()) WriteNeed(SchemeOf(needs.header), w);
  w->EndObject();
  w->EndArray();
}

}  // namespace nereid
