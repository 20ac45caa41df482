// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/compress_body.h"

#include <absl/strings/string_view.h>

#include <utility>
#include <vector>

#include "frontends/http/charged_text.h"
#include "frontends/http/status_map.h"

namespace nereid {

ContentCoding AnswerCoding(const HttpRequest& request) {
  const auto accepted = request.FindHeader("Accept-Encoding");
  return accepted.has_value() ? ChooseContentCoding(*accepted) : ContentCoding::kIdentity;
}

bool CompressBody(ContentCoding coding, Budget* budget, const std::shared_ptr<Holder>& holder,
                  absl::FunctionRef<bool()> wanted, HttpResponse* response) {
  if (!wanted()) return false;
  std::vector<absl::string_view> pieces = {response->text};
  uint64_t size = response->text.size();
  for (const HttpChunk& chunk : response->chunks) {
    pieces.emplace_back(static_cast<const char*>(chunk.data), chunk.size);
    size += chunk.size;
  }
  BudgetUnits units;
  if (!ChargeText(budget, holder, CompressedBound(size), &units).ok()) return false;
  auto compressed = Compress(coding, pieces, wanted);
  if (!compressed.ok()) return false;
  if (!ChargeText(budget, holder, compressed->capacity(), &units).ok()) return false;
  response->text = *std::move(compressed);
  response->units = std::move(units);
  response->chunks.clear();
  response->headers.emplace_back("Content-Encoding", ContentCodingName(coding));
  return true;
}

HttpResponse CodingRefusal(const absl::Status& error) {
  HttpResponse refusal = StatusResponse(error);
  refusal.headers.emplace_back("Accept-Encoding", "gzip, deflate");
  return refusal;
}

}  // namespace nereid
