// CorsPolicy: which pages of other origins may use the API from a browser (the Fetch standard's
// CORS protocol). By default none. A plain value; immutable, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CORS_H_
#define NEREID_FRONTENDS_HTTP_CORS_H_

#include <absl/strings/string_view.h>

#include <set>
#include <string>

#include "frontends/http/http_message.h"

namespace nereid {

class CorsPolicy {
 public:
  CorsPolicy() = default;
  // Origins as browsers send them ("https://app.example.com"), or "*" for all.
  explicit CorsPolicy(std::set<std::string> origins) : origins_(std::move(origins)) {}

  // Whether pages of this origin may use the API; false for an empty origin.
  bool Allows(absl::string_view origin) const;
  // Adds to the answer of `request` what its browser has to see, if its page is allowed.
  void Mark(const HttpRequest& request, HttpResponder* responder) const;
  // The answer to OPTIONS on a route with these methods ("GET, HEAD"): to a browser that asks
  // before its request, or to anybody else. Nobody needs a key for it, since browsers send none.
  HttpResponse Options(const HttpRequest& request, const char* methods) const;

 private:
  std::set<std::string> origins_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CORS_H_
