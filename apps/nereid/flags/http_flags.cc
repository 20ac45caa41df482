// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <iterator>

#include "flags/access_flags.h"
#include "flags/flag_table.h"
#include "flags/tls_flags.h"
#include "options/flag_kinds.h"

namespace nereid {

FlagGroup HttpFlags(Settings* s) {
  HttpServerOptions* const h = &s->http;
  FlagGroup group{
      "HTTP",
      {BooleanFlag("allow-http", &s->allow_http, "Serve HTTP/REST."),
       Usual(StringFlag("http-address", &h->address, "Address to listen on.")),
       Usual(PortFlag("http-port", &h->port, &s->port_errors)),
       BooleanFlag("reuse-http-port", &h->reuse_port,
                   "Let other processes listen on the same port."),
       WithDefaultText(
           absl::StrCat(kMostHttpThreads, ", or the number of processors if less"),
           IntegerFlag("http-thread-count", &h->thread_count, {1, 1024}, "I/O threads.")),
       IntegerFlag("http-max-input-size", &s->http_limits.max_input_size,
                   {1, kMaxInt64, "Error: --http-max-input-size must be greater than 0."},
                   "Bytes of JSON, of raw and of decompressed input of a request. Binary tensors "
                   "after the JSON do not count."),
       WithDefaultText("none", IntegerFlag("http-max-body-size", &h->max_body_bytes, {1, kMaxInt64},
                                           "Bytes of a whole request body; more is refused (413). "
                                           "In any case --max-in-flight-bytes has to pay for it.")),
       IntegerFlag("http-max-header-size", &h->max_header_bytes, {256, 16 << 20},
                   "Bytes of request line and headers; more is refused (431)."),
       IntegerFlag("http-max-connections", &h->max_connections, {0, kMaxInt},
                   "Connections at a time; more are refused (503). 0: no limit."),
       IntegerFlag("http-max-json-depth", &s->http_limits.max_json_depth, {1, 1000},
                   "Nesting of arrays and objects in a request's JSON."),
       WithDefaultText(
           "json, or empty if started as tritonserver",
           ChoiceFlag("http-health-body", &s->http_health_body,
                      {{"json", HealthBody::kJson}, {"empty", HealthBody::kEmpty}},
                      LetterCase::kDoesNotMatter,
                      "Bodies of health answers: json as the Open Inference Protocol has them and "
                      "clients of KServe read them, or empty as Triton's, for scripts that "
                      "compare what curl -s -w %{http_code} prints.")),
       ChoiceFlag("http-json-non-finite", &s->http_non_finite,
                  {std::begin(kNonFiniteNames), std::end(kNonFiniteNames)},
                  LetterCase::kDoesNotMatter,
                  "How NaN and infinities stand in JSON answers unless a request says so "
                  "(json_non_finite): as literals, which only some clients read, as null, as "
                  "strings, or not at all: the request fails."),
       StringSetFlag("http-allow-origin", &s->http_origins,
                     "Origin of pages that may use the API from a browser (CORS), for instance "
                     "https://app.example.com, or * for all. Requests of others get 403."),
       RestrictedFlag("http-restricted-api", "api", "the header <key>", kAllApiGroups,
                      &s->http_restricted),
       ForwardingFlag("http-header-forward-pattern", "headers of HTTP requests",
                      &s->http_forwarding),
       SecondsFlag(
           "http-header-timeout-secs", &h->header_timeout, {1, kMaxInt},
           "Seconds a client has for the TLS handshake and to send a request's header (408), "
           "and a body or response may stall."),
       IntegerFlag("http-min-rate-bytes-per-sec", &h->min_bytes_per_second, {0, kMaxInt64},
                   "Least rate at which a body has to arrive (408) and an answer to be read, after "
                   "a first --http-header-timeout-secs. What waits for a model counts as no time. "
                   "0: none."),
       SecondsFlag("http-idle-timeout-secs", &h->idle_timeout, {1, kMaxInt},
                   "Seconds that a connection without a request is kept.")}};
  for (Flag& flag : TlsFlags("http", "HTTP", &h->tls)) group.flags.push_back(std::move(flag));
  return group;
}

}  // namespace nereid
