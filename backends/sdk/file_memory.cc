// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/file_memory.h"

#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {
namespace {

std::optional<FileMemory> Read(Error asked, const NEREID_FileMemory& found) {
  if (!asked.ok() || found.descriptor < 0) return std::nullopt;
  return FileMemory{found.descriptor, found.offset, found.byte_size,
                    static_cast<char*>(found.base)};
}

}  // namespace

std::optional<FileMemory> FileMemoryOf(const InputView& input) {
  static const auto ask =
      ServerFunction<decltype(NEREID_InputFileMemory)>("NEREID_InputFileMemory");
  if (ask == nullptr || input.buffer_count != 1) return std::nullopt;
  NEREID_FileMemory found{};
  return Read(Error(ask(input.handle, 0, &found)), found);
}

std::optional<FileMemory> FileMemoryOf(TRITONBACKEND_Request* request, const char* output) {
  static const auto ask =
      ServerFunction<decltype(NEREID_RequestOutputFileMemory)>("NEREID_RequestOutputFileMemory");
  if (ask == nullptr) return std::nullopt;
  NEREID_FileMemory found{};
  return Read(Error(ask(request, output, &found)), found);
}

}  // namespace nereid_backend
