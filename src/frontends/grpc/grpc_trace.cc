// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/grpc_trace.h"

#include <optional>

namespace nereid {

TracedRequestPtr BeginGrpcTrace(Tracing* tracing, const http2::Stream& stream,
                                uint64_t waiting_since_ns, InferRequest* draft) {
  if (!tracing->on()) return nullptr;
  std::optional<TraceParent> parent;
  if (tracing->takes_parents()) {
    parent = ParseTraceParent(stream.FindHeader(kTraceParentHeader),
                              stream.FindHeader(kTraceStateHeader));
  }
  TracedRequestPtr traced = tracing->Sample(draft->model()->config().name, parent);
  if (traced == nullptr) return nullptr;
  draft->set_trace(traced->Begin());
  traced->NoteAt(kGrpcReceiveStart, waiting_since_ns);
  traced->Note(kGrpcReceiveEnd);
  return traced;
}

std::shared_ptr<const void> NoteSending(const TracedRequestPtr& traced) {
  if (traced == nullptr) return nullptr;
  traced->Note(kGrpcSendStart);
  return std::make_shared<SendEndNote>(traced, kGrpcSendEnd);
}

}  // namespace nereid
