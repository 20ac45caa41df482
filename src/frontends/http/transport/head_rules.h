// SPDX-License-Identifier: Apache-2.0
// What the head of a request has to say once, whatever the version of HTTP: its host, and each
// field of which a proxy in front might take another one than this server. Pure functions,
// thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_HEAD_RULES_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_HEAD_RULES_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <optional>

#include "frontends/http/http_message.h"
#include "frontends/http/transport/refusal.h"

namespace nereid::http {

// A field that may stand in a head once.
struct SingleField {
  absl::string_view name;
  // Whether it may be repeated with the same value, which then counts once.
  bool may_repeat_value = true;
};
// All of them. Content-Length and Transfer-Encoding are a matter of the grammar.
absl::Span<const SingleField> SingleFields();

enum class HttpVersion : uint8_t { k10, k11, k2 };

// Why the head of `request` is refused; nothing if it is not. HTTP/1.1 has to have a Host; in
// HTTP/2 the library has seen to it that there is a host.
std::optional<Refusal> CheckHead(const HttpRequest& request, HttpVersion version);

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_HEAD_RULES_H_
