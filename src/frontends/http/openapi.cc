// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/openapi.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "base/json_writer.h"
#include "frontends/http/openapi_schemas.h"

namespace nereid {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kTensors[] = "application/octet-stream";
constexpr char kEvents[] = "text/event-stream";
constexpr char kHtml[] = "text/html";

constexpr char kSuccess[] = "Success";
constexpr char kWrong[] = "The request is wrong, names something unknown, or is not allowed";
constexpr char kUnsupported[] = "This server does not offer it";
constexpr char kBusy[] = "Not ready, or too much at a time: try again later";
constexpr char kOptionsResponses[] =
    R"({"200":{"description":"Success","headers":{"Allow":{"schema":{"type":"string"}}}},)"
    R"("4XX":{"description":"The request is wrong"}})";

void WriteReference(absl::string_view schema, JsonWriter* w) {
  w->BeginObject();
  w->Add("$ref", absl::StrCat("#/components/schemas/", schema));
  w->EndObject();
}

// A member of "content".
void WriteMedia(absl::string_view type, absl::string_view schema, JsonWriter* w) {
  w->BeginObject(type);
  w->Key("schema");
  WriteReference(schema, w);
  w->EndObject();
}

bool HasEvents(BodyForm form) {
  return form == BodyForm::kEvents || form == BodyForm::kJsonOrEvents;
}

// The names in braces of a path.
std::vector<absl::string_view> NamesIn(absl::string_view path) {
  std::vector<absl::string_view> names;
  for (const absl::string_view segment : absl::StrSplit(path, '/')) {
    if (!segment.empty() && segment.front() == '{') {
      names.push_back(segment.substr(1, segment.find('}') - 1));
    }
  }
  return names;
}

void WriteParameters(absl::string_view path, JsonWriter* w) {
  w->BeginArray("parameters");
  for (const absl::string_view name : NamesIn(path)) {
    w->BeginObject();
    w->Add("name", name);
    w->Add("in", "path");
    w->Add("required", true);
    w->AddRaw("schema", name == "version" ? R"({"type":"string","pattern":"^[0-9]+$"})"
                                          : R"({"type":"string","minLength":1})");
    w->EndObject();
  }
  w->EndArray();
}

void WriteRequest(const RouteDoc& doc, JsonWriter* w) {
  w->BeginObject("requestBody");
  w->Add("required", !doc.body_optional);
  w->BeginObject("content");
  WriteMedia(kJson, doc.request, w);
  if (doc.form == BodyForm::kTensors) WriteMedia(kTensors, "BinaryTensors", w);
  w->EndObject();
  w->EndObject();
}

void WriteAnswer(const RouteDoc& doc, JsonWriter* w) {
  w->BeginObject("200");
  w->Add("description", kSuccess);
  if (doc.response != nullptr) {
    w->BeginObject("content");
    if (doc.form != BodyForm::kEvents) WriteMedia(kJson, doc.response, w);
    if (HasEvents(doc.form)) WriteMedia(kEvents, "Events", w);
    if (doc.form == BodyForm::kTensors) WriteMedia(kTensors, "BinaryTensors", w);
    if (doc.form == BodyForm::kHtml) WriteMedia(kHtml, "Page", w);
    w->EndObject();
  }
  w->EndObject();
}

void WriteError(const char* status, const char* description, const RouteDoc& doc, JsonWriter* w) {
  w->BeginObject(status);
  w->Add("description", description);
  w->BeginObject("content");
  WriteMedia(kJson, doc.error, w);
  // An error may come as the first event.
  if (doc.form == BodyForm::kEvents) WriteMedia(kEvents, "Events", w);
  w->EndObject();
  w->EndObject();
}

void WriteResponses(const RouteDoc& doc, JsonWriter* w) {
  w->BeginObject("responses");
  WriteAnswer(doc, w);
  WriteError("4XX", kWrong, doc, w);
  if (doc.server_error != nullptr) WriteError("500", doc.server_error, doc, w);
  if (doc.may_be_unsupported) WriteError("501", kUnsupported, doc, w);
  WriteError("503", kBusy, doc, w);
  w->EndObject();
}

void WriteDescription(const char* status, const char* description, JsonWriter* w) {
  w->BeginObject(status);
  w->Add("description", description);
  w->EndObject();
}

// As WriteResponses; answers to HEAD have no body.
void WriteHeadResponses(const RouteDoc& doc, JsonWriter* w) {
  w->BeginObject("responses");
  WriteDescription("200", kSuccess, w);
  WriteDescription("4XX", kWrong, w);
  if (doc.may_be_unsupported) WriteDescription("501", kUnsupported, w);
  WriteDescription("503", kBusy, w);
  w->EndObject();
}

// "post_v2_models_model_infer"
std::string OperationId(absl::string_view method, absl::string_view path) {
  std::string id(method);
  for (const absl::string_view segment : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    id += '_';
    for (const char c : segment) {
      if (absl::ascii_isalnum(static_cast<unsigned char>(c))) id += c;
    }
  }
  return id;
}

void BeginOperation(absl::string_view method, const std::string& path, const char* summary,
                    ApiGroup group, JsonWriter* w) {
  w->BeginObject(method);
  w->Add("operationId", OperationId(method, path));
  w->Add("summary", summary);
  w->BeginArray("tags");
  w->String(ApiGroupName(group));
  w->EndArray();
}

void WriteOperation(absl::string_view method, const std::string& path, const HttpRoute& route,
                    const OpenApiSecurity& security, JsonWriter* w) {
  BeginOperation(method, path, route.doc.summary, route.group, w);
  security.WriteNeeds(route.group, w);
  if (route.doc.query != nullptr) {
    w->AddRaw("parameters", route.doc.query);
  }
  if (method == "post" && route.doc.request != nullptr) WriteRequest(route.doc, w);
  if (method == "head") {
    WriteHeadResponses(route.doc, w);
  } else {
    WriteResponses(route.doc, w);
  }
  w->EndObject();
}

// Nobody needs a key for it.
void WriteOptions(const std::string& path, const HttpRoute& route, JsonWriter* w) {
  BeginOperation("options", path, "The methods of this path, for people and browsers", route.group,
                 w);
  w->AddRaw("responses", kOptionsResponses);
  w->EndObject();
}

void WritePath(const std::string& path, const HttpRoute& route, const OpenApiSecurity& security,
               JsonWriter* w) {
  w->BeginObject(path);
  WriteParameters(path, w);
  if (route.methods != RouteMethods::kPost) {
    WriteOperation("get", path, route, security, w);
    WriteOperation("head", path, route, security, w);
  }
  if (route.methods != RouteMethods::kGet) WriteOperation("post", path, route, security, w);
  WriteOptions(path, route, w);
  w->EndObject();
}

void WriteInfo(absl::string_view version, JsonWriter* w) {
  w->Add("openapi", "3.1.0");
  w->BeginObject("info");
  w->Add("title", "Nereid");
  w->Add("summary", "Inference over REST");
  w->Add("version", version);
  w->EndObject();
}

}  // namespace

std::vector<std::string> PathsOf(absl::string_view pattern) {
  const size_t open = pattern.find('[');
  if (open == absl::string_view::npos) return {std::string(pattern)};
  const size_t close = pattern.find(']');
  const absl::string_view before = pattern.substr(0, open);
  const absl::string_view after = pattern.substr(close + 1);
  return {absl::StrCat(before, after),
          absl::StrCat(before, pattern.substr(open + 1, close - open - 1), after)};
}

std::string OpenApiDocument(absl::Span<const HttpRoute> routes, absl::string_view version,
                            const OpenApiSecurity& security) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  WriteInfo(version, &w);
  w.BeginObject("paths");
  for (const HttpRoute& route : routes) {
    for (const std::string& path : PathsOf(route.pattern)) WritePath(path, route, security, &w);
  }
  w.EndObject();
  w.BeginObject("components");
  w.AddRaw("schemas", kOpenApiSchemas);
  security.WriteSchemes(&w);
  w.EndObject();
  w.EndObject();
  return json;
}

std::shared_ptr<const std::string> OpenApiText::Get() {
  OpenApiSecurity security(*access_);
  MutexLock lock(&mu_);
  if (text_ == nullptr || security_ != security) {
    text_ = std::make_shared<const std::string>(OpenApiDocument(routes_, version_, security));
    security_ = std::move(security);
  }
  return text_;
}

}  // namespace nereid
