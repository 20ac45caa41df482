// SPDX-License-Identifier: Apache-2.0
// Any file may be given to `nereid replay`.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "frontends/codec/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  (void)nereid::ReadRecording(file, /*with_inputs=*/true).status();
  return 0;
}
