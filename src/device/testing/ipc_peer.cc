// SPDX-License-Identifier: Apache-2.0
// The other process of ipc_regions_test: it has memory on a simulated GPU that holds "from the
// peer", writes the handle in hexadecimal and the offset as a line, and reads lines: "show" is
// answered with what the memory holds then, "free" ends the life of the memory, and the end of its
// input ends the process.
//
//   device_ipc_peer LIBRARY
#include <absl/strings/escaping.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <string>

#include "device/gpus.h"
#include "device/ipc_regions.h"
#include "device/memory_pool.h"
#include "device/stream.h"

namespace {

constexpr size_t kSize = 13;

int Serve(nereid::Gpus* gpus) {
  using namespace nereid;  // NOLINT: a program of one function
  Gpu* const gpu = gpus->Get(0);
  auto pool = MemoryPool::OnGpu(gpu, 1 << 16);
  const auto pinned = MemoryPool::Pinned(gpus, 4096);
  pool->Allocate(1000).value();  // so that the offset is not 0
  void* const there = pool->Allocate(kSize).value();
  char* const here = static_cast<char*>(pinned->Allocate(kSize).value());
  std::memcpy(here, "from the peer", kSize);
  const auto stream = Stream::Create(gpu, Stream::Priority::kUrgent).value();
  const MemoryPlace on_gpu = {MemoryType::kGpu, 0}, on_host = {MemoryType::kCpuPinned, 0};
  const CopyItem to = {there, on_gpu, here, on_host, kSize};
  const CopyItem from = {here, on_host, there, on_gpu, kSize};
  if (!stream->Copy({&to, 1}).ok() || !stream->Synchronize().ok()) return 1;
  const IpcExport exported = ExportMemory(gpu, there).value();
  const absl::string_view handle(reinterpret_cast<const char*>(exported.handle.bytes),
                                 sizeof(exported.handle.bytes));
  std::cout << absl::BytesToHexString(handle) << " " << exported.offset << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "show") {
      if (!stream->Copy({&from, 1}).ok() || !stream->Synchronize().ok()) return 1;
      std::cout << std::string(here, kSize) << std::endl;
    } else if (line == "free") {
      pool.reset();
      std::cout << "freed" << std::endl;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto gpus = nereid::Gpus::Find(argc > 1 ? argv[1] : "");
  return gpus->size() == 0 ? 1 : Serve(gpus.get());
}
