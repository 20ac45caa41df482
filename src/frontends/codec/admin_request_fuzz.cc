// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as the body of each request of administration that the repository's fuzz target
// does not read. What is refused is refused with a text; what is read is what the body may say.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontends/codec/log_settings.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/codec/shared_memory_request.h"
#include "frontends/codec/trace_request.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void RequireText(const absl::Status& status) { Require(status.ok() || !status.message().empty()); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy with nothing after it, so that reading too far is detected.
  const std::string json(reinterpret_cast<const char*>(data), size);
  const nereid::ParseBudget budget = nereid::ParseBudget::UpTo(1 << 20);
  RequireText(nereid::ApplyLogSettings(json, budget));
  RequireText(nereid::ReadTraceUpdate(json, budget).status());
  const auto region = nereid::ReadRegisterRequest("region", json, budget);
  RequireText(region.status());
  if (region.ok()) Require(region->name == "region");
  return 0;
}
