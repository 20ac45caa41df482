// SPDX-License-Identifier: Apache-2.0
// What tests of the server over real sockets share: a handler that can keep its requests, and the
// server. Waits are for events and end with a deadline; nothing sleeps.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_HTTP_SERVER_FIXTURE_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_HTTP_SERVER_FIXTURE_H_

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "frontends/http/http_server.h"
#include "frontends/http/transport/testing/loopback_client.h"

namespace nereid {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline TimePoint In(Duration duration) { return Clock::Real()->Now() + duration; }

inline HttpResponse Text(std::string text) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.text = std::move(text);
  return response;
}

// Answers "<path>:<body>" at once, except below /hold, where it keeps the request until the test
// takes it.
class TestHandler final : public HttpHandler {
 public:
  struct Held {
    std::unique_ptr<HttpRequest> request;
    HttpResponder responder;
  };

  // From now on, `fn` is called first for each request. REQUIRES: no requests come in.
  void CallFirst(std::function<void(absl::string_view path)> fn) { call_first_ = std::move(fn); }

  // Below /small at most ten bytes are taken as a body, below /none nothing.
  HeadVerdict OnHead(HttpRequest* request) override {
    if (absl::StartsWith(request->path(), "/none")) return {/*takes_body=*/false, {}};
    if (!absl::StartsWith(request->path(), "/small")) return {};
    return {true, {10, 413, [](std::optional<uint64_t> size, uint64_t limit) {
                     return absl::StrCat(size.value_or(0), " exceed ", limit);
                   }}};
  }

  void Handle(std::unique_ptr<HttpRequest> request, HttpResponder responder) override {
    if (call_first_) call_first_(request->path());
    if (!absl::StartsWith(request->path(), "/hold")) {
      responder.Complete(Text(absl::StrCat(request->path(), ":", request->body_text())));
      return;
    }
    responder.SetOnCancel([this] {
      MutexLock lock(&mu_);
      ++cancelled_;
      changed_.NotifyAll();
    });
    MutexLock lock(&mu_);
    held_.push_back({std::move(request), std::move(responder)});
    changed_.NotifyAll();
  }

  Held Take() {
    MutexLock lock(&mu_);
    const TimePoint deadline = In(seconds(20));
    while (held_.empty() && Clock::Real()->Now() < deadline) changed_.WaitUntil(&mu_, deadline);
    if (held_.empty()) {
      ADD_FAILURE() << "no request came";
      std::abort();
    }
    Held held = std::move(held_.front());
    held_.pop_front();
    return held;
  }
  bool WaitCancelled(int count) {
    MutexLock lock(&mu_);
    const TimePoint deadline = In(seconds(20));
    while (cancelled_ < count && Clock::Real()->Now() < deadline) {
      changed_.WaitUntil(&mu_, deadline);
    }
    return cancelled_ >= count;
  }
  int cancelled() {
    MutexLock lock(&mu_);
    return cancelled_;
  }

 private:
  std::function<void(absl::string_view)> call_first_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Held> held_ ABSL_GUARDED_BY(mu_);
  int cancelled_ ABSL_GUARDED_BY(mu_) = 0;
};

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() { options_.address = "127.0.0.1"; }
  // Starts the server; fails the test if that fails.
  void StartServer() {
    auto server = HttpServer::Start(options_, &handler_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  uint16_t port() const { return server_->port(); }

  TestHandler handler_;
  HttpServerOptions options_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_HTTP_SERVER_FIXTURE_H_
