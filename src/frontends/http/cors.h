// SPDX-License-Identifier: Apache-2.0
// CorsPolicy: which pages may use the API from a browser: those of the server itself, and those of
// other origins that the operator allows (the Fetch standard's CORS protocol), by default none. A
// plain value; immutable, thread-safe.
//
// CORS alone only keeps a page from reading the answer. What a request changes, for instance a
// model of Python that it loads, it changes anyway, so that requests of other pages are refused.
#ifndef NEREID_FRONTENDS_HTTP_CORS_H_
#define NEREID_FRONTENDS_HTTP_CORS_H_

#include <absl/strings/string_view.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/http/http_message.h"

namespace nereid {

class CorsPolicy {
 public:
  CorsPolicy() = default;
  // Origins as browsers send them ("https://app.example.com"), or "*" for all. `own_names` are
  // names of this machine that nobody else can point at it.
  explicit CorsPolicy(std::set<std::string> origins, std::vector<std::string> own_names = {})
      : origins_(std::move(origins)), own_names_(std::move(own_names)) {}
  // For a handler behind another one that has asked a policy, or a guard of its own: refuses
  // nothing, and allows no page to read answers.
  static CorsPolicy Unchecked() {
    CorsPolicy policy;
    policy.checks_ = false;
    return policy;
  }

  // Whether pages of this origin may use the API; false for an empty origin.
  bool Allows(absl::string_view origin) const;
  // Nothing if `request` comes from no page, from an allowed one or from the server's own;
  // otherwise a 403. Own are pages whose origin is the host and port that the request asks for, if
  // that is `localhost`, an address or one of the own names: a page under any other name may belong
  // to somebody who has pointed that name at this machine (DNS rebinding).
  std::optional<HttpResponse> Refuse(const HttpRequest& request) const;
  // Adds to the answer of `request` what its browser has to see, if its page is allowed.
  void Mark(const HttpRequest& request, HttpResponder* responder) const;
  // The answer to OPTIONS on a route with these methods ("GET, HEAD"): to a browser that asks
  // before its request, or to anybody else. Nobody needs a key for it, since browsers send none.
  HttpResponse Options(const HttpRequest& request, const char* methods) const;

 private:
  bool IsOwn(absl::string_view origin, const HttpRequest& request) const;

  std::set<std::string> origins_;
  std::vector<std::string> own_names_;
  bool checks_ = true;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CORS_H_
