// SPDX-License-Identifier: Apache-2.0
// Parses arbitrary bytes as the JSON of a configuration or of settings. A value that can be parsed
// stays the same when it is written and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "backends/sdk/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid_backend::Json;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto json = Json::Parse(text);
  if (!json.ok()) return 0;
  const std::string written = json->Write();
  const auto again = Json::Parse(written);
  if (!again.ok() || again->Write() != written) std::abort();
  for (const auto& [key, value] : json->members()) {
    value.AsInt();
    value.AsInts();
  }
  return 0;
}
