// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/console/console_frontend.h"

#include <optional>
#include <utility>

#include "frontends/http/console/console_files.h"
#include "frontends/http/off_loop.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr char kSettingsPath[] = "/console/settings";
constexpr char kMetricsPath[] = "/metrics";
constexpr char kNotOffered[] = "the console does not offer it; use the HTTP port";

// What browsers may do with every answer: nothing but show the page, with its own files.
void AddSafeHeaders(HttpResponder* responder) {
  responder->AddHeader(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  responder->AddHeader("X-Content-Type-Options", "nosniff");
  responder->AddHeader("X-Frame-Options", "DENY");
  responder->AddHeader("Referrer-Policy", "no-referrer");
  responder->AddHeader("Cross-Origin-Opener-Policy", "same-origin");
  responder->AddHeader("Cross-Origin-Resource-Policy", "same-origin");
  // Another version of the server has another page, and the API's answers are secrets.
  responder->AddHeader("Cache-Control", "no-store");
}

bool Reads(const HttpRequest& request) {
  return request.method() == HttpMethod::kGet || request.method() == HttpMethod::kHead;
}

HttpResponse ReadOnly() {
  HttpResponse response = MakeErrorResponse(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", "GET, HEAD");
  return response;
}

HttpResponse FileResponse(const ConsoleFile& file) {
  HttpResponse response;
  response.content_type = file.content_type;
  response.chunks.push_back({file.bytes.data(), file.bytes.size(), nullptr});
  return response;
}

}  // namespace

HttpFrontendOptions ConsoleApiOptions(HttpFrontendOptions options) {
  for (const ApiGroup group : {ApiGroup::kSharedMemory, ApiGroup::kTrace, ApiGroup::kLogging}) {
    options.access.Close(group, kNotOffered);
  }
  options.cors = CorsPolicy::Unchecked();  // ConsoleGuard has asked
  options.shared_memory = SharedMemoryRegistry::Closed();
  options.header_forwarding = {};
  return options;
}

HttpFrontendOptions OwnerApiOptions(HttpFrontendOptions options) {
  options.access = {};
  return ConsoleApiOptions(std::move(options));
}

ConsoleFrontend::ConsoleFrontend(const Handlers& handlers, const ConsoleOptions& options)
    : handlers_(handlers),
      guard_(options.address, options.token, options.access),
      settings_(options.settings),
      reports_(options.reports),
      admin_(options.admin) {}

HttpHandler* ConsoleFrontend::HandlerFor(ConsoleGuard::Visitor visitor,
                                         const HttpRequest& request) const {
  if (request.path() == kMetricsPath) return handlers_.metrics;
  return visitor == ConsoleGuard::Visitor::kOwner ? handlers_.for_owner : handlers_.for_key_holder;
}

HeadVerdict ConsoleFrontend::OnHead(HttpRequest* request) {
  const absl::string_view path = request->path();
  const bool is_page = FindConsoleFile(path) != nullptr || path == kSettingsPath ||
                       reports_.count(path) > 0;  // takes no body
  if (is_page || guard_.RefuseSource(*request).has_value()) return {/*takes_body=*/false, {}};
  const ConsoleGuard::Visitor visitor = guard_.Recognise(*request);
  if (visitor == ConsoleGuard::Visitor::kStranger) return {/*takes_body=*/false, {}};
  return HandlerFor(visitor, *request)->OnHead(request);
}

void ConsoleFrontend::Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) {
  AddSafeHeaders(&responder);
  if (auto refusal = guard_.RefuseSource(*request)) return responder.Complete(*std::move(refusal));
  if (const ConsoleFile* const file = FindConsoleFile(request->path())) {
    return responder.Complete(Reads(*request) ? FileResponse(*file) : ReadOnly());
  }
  const ConsoleGuard::Visitor visitor = guard_.Recognise(*request);
  if (visitor == ConsoleGuard::Visitor::kStranger) {
    return responder.Complete(guard_.StrangerResponse());
  }
  if (request->path() == kSettingsPath) {
    return responder.Complete(Reads(*request) ? JsonResponse(settings_) : ReadOnly());
  }
  if (const auto report = reports_.find(request->path()); report != reports_.end()) {
    if (!Reads(*request)) return responder.Complete(ReadOnly());
    return RespondOffLoop(admin_, std::move(responder), [make = &report->second] {
      absl::StatusOr<std::string> json = (*make)();
      return json.ok() ? JsonResponse(*std::move(json)) : StatusResponse(json.status());
    });
  }
  HttpHandler* const handler = HandlerFor(visitor, *request);
  handler->Handle(std::move(request), std::move(responder));
}

}  // namespace nereid
