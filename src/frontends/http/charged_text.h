// SPDX-License-Identifier: Apache-2.0
// Memory of the texts that are sent as answers, charged to the budget before and after they are
// made, and while they wait for their client. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CHARGED_TEXT_H_
#define NEREID_FRONTENDS_HTTP_CHARGED_TEXT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/budget.h"
#include "frontends/http/http_body_stream.h"
#include "infer/response.h"

namespace nereid {

// A shorter text counts as part of its connection's cost.
inline constexpr uint64_t kUnchargedText = 4096;

// Makes `units` of `holder` pay for a text of `size` bytes, whatever they paid for before.
// UNAVAILABLE if `budget` refuses; `units` are then unchanged.
inline absl::Status ChargeText(Budget* budget, const std::shared_ptr<Holder>& holder, uint64_t size,
                               BudgetUnits* units) {
  if (size <= kUnchargedText) size = 0;
  if (size <= units->amount()) {
    units->Keep(size);
    return absl::OkStatus();
  }
  auto more = budget->TakeFor(holder, size - units->amount(), ShareUse::kAnswer);
  if (!more.ok()) return more.status();
  units->Add(*std::move(more));
  return absl::OkStatus();
}

// Appends `text`, made of `response`, to `events`. While it waits for the client, `holder` pays for
// it; if `budget` refuses, it keeps the response alive (takes it), and with that its units.
// RESOURCE_EXHAUSTED, and nothing is appended, if the stream has no room for that either.
inline absl::Status AppendCharged(HttpBodyStream* events, std::string text,
                                  std::unique_ptr<InferResponse>* response, Budget* budget,
                                  const std::shared_ptr<Holder>& holder) {
  // What each of many events takes besides its text, about.
  constexpr uint64_t kEventBytes = 256;
  const std::shared_ptr<ResponseCredit>& credit = events->credit();
  HttpBodyStream::Piece piece;
  auto units = budget->TakeFor(holder, text.size() + (credit == nullptr ? 0 : kEventBytes),
                               ShareUse::kAnswer);
  if (units.ok()) {
    piece.owner = std::make_shared<BudgetUnits>(*std::move(units));
  } else if (credit != nullptr && credit->full()) {
    return UnreadError((*response)->id(), (*response)->model_name(), credit->held());
  } else {
    piece.owner = std::move(*response);
  }
  piece.text = std::move(text);
  events->Append(std::move(piece));
  return absl::OkStatus();
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CHARGED_TEXT_H_
