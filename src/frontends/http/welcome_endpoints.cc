// SPDX-License-Identifier: Apache-2.0
// Routes for those who look at the server for the first time: its front page, and the description
// of all other routes.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <memory>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "frontends/http/openapi.h"
#include "frontends/http/response_handlers.h"
#include "frontends/http/routes.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

struct Document {
  const char* path;
  const char* what;
};
constexpr Document kDocuments[] = {
    {"/v2/openapi.json", "all routes, as an OpenAPI document"},
    {"/v2", "name, version and extensions"},
    {"/v2/health/ready", "is the server ready?"},
    {"/v2/models/stats", "statistics of the models"},
};

constexpr char kPageBegin[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width\"><title>Nereid</title><style>body{font:1rem/1.5 sans-serif;"
    "max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}table{border-collapse:"
    "collapse}td,th{text-align:left;padding:.2rem 1rem .2rem 0}</style></head><body>";
// Nothing is loaded from anywhere, and no other page may show this one in a frame.
constexpr char kPolicy[] =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string ModelRow(const IndexEntry& entry) {
  const std::string version = entry.version < 0 ? "" : absl::StrCat(entry.version);
  const absl::string_view state =
      entry.state.empty() ? "not loaded" : absl::string_view(entry.state);
  return absl::StrCat("<tr><td>", Escaped(entry.name), "</td><td>", version, "</td><td>", state,
                      "</td><td>", Escaped(entry.reason), "</td></tr>");
}

HttpResponse Page(const ServerMetadata& server, const std::vector<IndexEntry>& index) {
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  std::string* const text = &response.text;
  absl::StrAppend(text, kPageBegin, "<h1>Nereid ", Escaped(server.version), "</h1><p>This is ",
                  Escaped(server.name),
                  ", an inference server. It speaks the Open Inference "
                  "Protocol, version 2, over HTTP and gRPC: use <code>tritonclient</code>, "
                  "<code>curl</code>, or any other client of that protocol.</p><ul>");
  for (const Document& document : kDocuments) {
    absl::StrAppend(text, "<li><a href=\"", document.path, "\"><code>", document.path,
                    "</code></a>: ", document.what, "</li>");
  }
  absl::StrAppend(text,
                  "</ul><p>The documentation is the folder <code>docs</code> of the sources; "
                  "<code>nereid --help</code> lists the options.</p><h2>Models</h2><table>"
                  "<tr><th>name</th><th>version</th><th>state</th><th>why</th></tr>");
  for (const IndexEntry& entry : index) *text += ModelRow(entry);
  absl::StrAppend(text, "</table></body></html>\n");
  return response;
}

HttpResponse PageAsJson(const ServerMetadata& server, const std::vector<IndexEntry>& index) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Add("name", server.name);
  w.Add("version", server.version);
  w.BeginObject("documents");
  for (const Document& document : kDocuments) {
    w.Add(document.path, document.what);
  }
  w.EndObject();
  w.AddRaw("models", ToJson(index));
  w.EndObject();
  return JsonResponse(std::move(json));
}

// Browsers name text/html, and programs that care name JSON; the others get the page.
bool WantsJson(const HttpRequest& request) {
  const std::string accepted = absl::AsciiStrToLower(request.FindHeader("Accept").value_or(""));
  return accepted.find("application/json") != std::string::npos &&
         accepted.find("text/html") == std::string::npos;
}

HttpResponse WelcomeResponse(const HttpEndpoints& endpoints, const HttpCall& call) {
  // A server that is not ready has a page, too.
  const auto index = endpoints.server->RepositoryIndex(/*ready_only=*/false);
  const std::vector<IndexEntry> models = index.ok() ? *index : std::vector<IndexEntry>();
  HttpResponse response = WantsJson(*call.request)
                              ? PageAsJson(endpoints.server->Metadata(), models)
                              : Page(endpoints.server->Metadata(), models);
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

HttpResponse OpenApiResponse(const HttpEndpoints& endpoints, const HttpCall& /*call*/) {
  std::shared_ptr<const std::string> text = endpoints.openapi->Get();
  HttpResponse response = JsonResponse("");
  response.chunks.push_back({text->data(), text->size(), text});
  return response;
}

constexpr HttpRoute kWelcomeRoutes[] = {
    {"/",
     RouteMethods::kGet,
     ApiGroup::kMetadata,
     &RespondLater<WelcomeResponse>,
     {"What this server is, and its models", "Welcome", nullptr, BodyForm::kHtml}},
    {"/v2/openapi.json",
     RouteMethods::kGet,
     ApiGroup::kMetadata,
     &RespondLater<OpenApiResponse>,
     {"This document", "Document"}},
};

}  // namespace

absl::Span<const HttpRoute> WelcomeRoutes() { return kWelcomeRoutes; }

}  // namespace nereid
