// SPDX-License-Identifier: Apache-2.0
// What the gRPC frontend notes about requests that are traced. Stateless.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_TRACE_H_
#define NEREID_FRONTENDS_GRPC_GRPC_TRACE_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>

#include "frontends/tracing/tracing.h"
#include "frontends/transport/http2/stream.h"
#include "infer/infer_request.h"

namespace nereid {

// If the request of `draft`, whose message has arrived, is to be traced: begins its trace, which
// `draft` carries into the core. Otherwise null. `stream` is that of the call, which has waited for
// the message since `waiting_since_ns` of the steady clock (0: not known).
TracedRequestPtr BeginGrpcTrace(Tracing* tracing, const http2::Stream& stream,
                                uint64_t waiting_since_ns, InferRequest* draft);

// A message of the request is now given to the stream; whoever sends it keeps the result until it
// was sent. Null if `traced` is.
std::shared_ptr<const void> NoteSending(const TracedRequestPtr& traced);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_TRACE_H_
