// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/http_trace.h"

#include <optional>
#include <utility>

namespace nereid {

TracedRequestPtr BeginHttpTrace(Tracing* tracing, const HttpRequest& request, InferRequest* draft) {
  if (!tracing->on()) return nullptr;
  std::optional<TraceParent> parent;
  if (tracing->takes_parents()) {
    if (const auto header = request.FindHeader(kTraceParentHeader)) {
      parent = ParseTraceParent(*header, request.FindHeader(kTraceStateHeader).value_or(""));
    }
  }
  TracedRequestPtr traced = tracing->Sample(draft->model()->config().name, parent);
  if (traced == nullptr) return nullptr;
  draft->set_trace(traced->Begin());
  traced->NoteAt(kHttpReceiveStart, request.received_ns());
  traced->Note(kHttpReceiveEnd);
  return traced;
}

void NoteSending(TracedRequestPtr* traced, HttpResponse* response) {
  if (*traced == nullptr) return;
  (*traced)->Note(kHttpSendStart);
  response->kept = std::make_shared<SendEndNote>(std::move(*traced), kHttpSendEnd);
}

}  // namespace nereid
