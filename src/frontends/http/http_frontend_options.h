// SPDX-License-Identifier: Apache-2.0
// HttpFrontendOptions: what the REST frontend is told at its start. A plain value.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_FRONTEND_OPTIONS_H_
#define NEREID_FRONTENDS_HTTP_HTTP_FRONTEND_OPTIONS_H_

#include <cstdint>

#include "frontends/access/access_control.h"
#include "frontends/codec/non_finite.h"
#include "frontends/codec/request_limits.h"
#include "frontends/header_forwarding/header_forwarding.h"
#include "frontends/http/cors.h"
#include "frontends/http/health_response.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/tracing/tracing.h"

namespace nereid {

struct HttpFrontendOptions {
  RequestLimits limits;
  // Of answers whose request does not choose.
  NonFinite non_finite = NonFinite::kLiteral;
  HealthBody health_body = HealthBody::kJson;
  // Of the body of a request that is no inference and no load; beyond: 413.
  uint64_t max_admin_body_bytes = kMaxAdminBodyBytes;
  // Bytes of one generated stream that may wait for its client; beyond, its request has no
  // credit for more.
  uint64_t max_waiting_bytes = kMaxWaitingStreamBytes;
  // These must outlive the frontend.
  SharedMemoryRegistry* shared_memory = SharedMemoryRegistry::Closed();
  Tracing* tracing = Tracing::Off();
  AccessControl access;
  CorsPolicy cors;
  HeaderForwarding header_forwarding;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_FRONTEND_OPTIONS_H_
