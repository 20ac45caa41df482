// SPDX-License-Identifier: Apache-2.0
// ConsoleFrontend: the handler of the console port: the files of the page, which are open to
// everybody who reaches the port, and the API that the page needs, which is open to those who know
// the token, or the key that --http-restricted-api gives the group `nereid`. The API is that of the
// REST frontend and of the metrics port. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_FRONTEND_H_
#define NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_FRONTEND_H_

#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/threads/thread_pool.h"
#include "frontends/http/console/console_guard.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_server.h"

namespace nereid {

struct ConsoleOptions {
  std::string address;  // where the port listens
  std::string token;
  AccessControl access;  // of the HTTP port
  std::string settings;  // the answer of /console/settings, JSON: what the page has to know
  // Makes an answer of the console's own, JSON. Thread-safe; may block.
  using Report = std::function<absl::StatusOr<std::string>()>;
  std::map<std::string, Report, std::less<>> reports;  // by path
  ThreadPool* admin = nullptr;  // makes the reports; ends before the frontend is destroyed
};

// `options` of the REST frontend without what the page does not need: the groups of shared memory,
// traces and log settings are closed.
HttpFrontendOptions ConsoleApiOptions(HttpFrontendOptions options);
// The same for those who have the token, which stands for every other key.
HttpFrontendOptions OwnerApiOptions(HttpFrontendOptions options);

class ConsoleFrontend final : public HttpHandler {
 public:
  struct Handlers {
    HttpHandler* for_owner;       // the API, made with OwnerApiOptions
    HttpHandler* for_key_holder;  // the API, made with ConsoleApiOptions
    HttpHandler* metrics;         // the metrics page
  };

  // `handlers` must outlive the frontend.
  ConsoleFrontend(const Handlers& handlers, const ConsoleOptions& options);

  HeadVerdict OnHead(HttpRequest* request) override;
  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override;

 private:
  // Who handles a request of the API or for the metrics page. REQUIRES: not of a stranger.
  HttpHandler* HandlerFor(ConsoleGuard::Visitor visitor, const HttpRequest& request) const;

  const Handlers handlers_;
  const ConsoleGuard guard_;
  const std::string settings_;
  const std::map<std::string, ConsoleOptions::Report, std::less<>> reports_;
  ThreadPool* const admin_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_FRONTEND_H_
