// SPDX-License-Identifier: Apache-2.0
// Memory of simulated GPUs, and pinned memory of the host. A GPU's memory is a file that lies at
// its address without any right of access, so that a CPU which reads or writes it gets SIGSEGV;
// copies use another mapping. Unused pages stand between blocks, and addresses are never used
// again. Thread-compatible: the simulator's lock guards it.
#ifndef NEREID_TESTS_SUPPORT_SIMULATED_CUDA_MEMORY_H_
#define NEREID_TESTS_SUPPORT_SIMULATED_CUDA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "device/cuda_abi.h"

namespace nereid::simulated_cuda {

// kReserved: addresses, behind which memory is put.
enum class Kind { kDevice, kPinned, kOpened, kReserved };

// Memory that has been put behind reserved addresses.
struct Mapping {
  size_t size = 0;
  cuda::MemoryBlock memory = 0;
  bool usable = false;
};

struct Block {
  Kind kind = Kind::kDevice;
  int device = 0;  // through whose context it was taken, by the process's number
  uintptr_t address = 0;
  size_t size = 0;
  size_t mapped = 0;      // whole pages
  char* bytes = nullptr;  // where copies find them
  int file = -1;
  uint64_t inode = 0;                  // of the file
  int opens = 0;                       // of an opened region
  std::map<size_t, Mapping> mappings;  // of reserved addresses, by offset
};

// Memory without an address. It is gone when it has been released and lies nowhere.
struct Physical {
  int device = 0;
  size_t size = 0;
  int file = -1;
  bool released = false;
  int mappings = 0;
};

// The bytes of a range for a copy. Not valid: the range is partly within the simulator's addresses,
// and in no block.
struct Range {
  bool valid = false;
  const Block* block = nullptr;  // null: ordinary memory of the host
  char* bytes = nullptr;
};

class Memory {
 public:
  Memory();

  // Null if the machine has no memory left.
  Block* AllocateDevice(int device, size_t size);
  Block* AllocatePinned(int device, size_t size);
  // A block by its first address; null if there is none of this kind.
  Block* Find(uintptr_t address, Kind kind);
  // The block of the GPU's memory that holds the address; null if there is none.
  const Block* Holding(uintptr_t address) const;
  Range Resolve(uintptr_t address, size_t size) const;
  void Free(Block* block);
  void FreeAllOf(int device);

  cuda::IpcHandle HandleOf(const Block& block) const;
  // kInvalidContext for a handle of this process, kInvalidValue for what is no handle of a living
  // block.
  cuda::Result Open(const cuda::IpcHandle& handle, int device, Block** opened);

  // ---- Reserved addresses and what lies behind them. All sizes are multiples of kGranularity.
  static constexpr size_t kGranularity = 2 << 20;
  // Null if the machine has no addresses left.
  Block* Reserve(int device, size_t size);
  // 0 if the machine has no memory left.
  cuda::MemoryBlock Create(int device, size_t size);
  cuda::Result Release(cuda::MemoryBlock memory);
  cuda::Result Map(uintptr_t address, size_t size, cuda::MemoryBlock memory);
  // Whole mappings only.
  cuda::Result Unmap(uintptr_t address, size_t size);
  cuda::Result MakeUsable(uintptr_t address, size_t size);
  uint64_t physical() const { return physical_.size(); }

  uint64_t Count(Kind kind) const;
  size_t BytesOn(int device) const;
  bool empty() const { return blocks_.empty() && physical_.empty(); }
  const std::map<uintptr_t, Block>& blocks() const { return blocks_; }

 private:
  Block* Add(Block block);
  Block* ReservedAt(uintptr_t address, size_t size);
  void Unmap(Block* block, size_t offset);
  void DropUnused(cuda::MemoryBlock memory);
  Block* AddFile(int file, Kind kind, int device, size_t size);

  uintptr_t begin_;  // of all addresses that blocks can have
  uintptr_t next_;
  std::map<uintptr_t, Block> blocks_;
  std::map<cuda::MemoryBlock, Physical> physical_;
  cuda::MemoryBlock last_physical_ = 0;
};

}  // namespace nereid::simulated_cuda

#endif  // NEREID_TESTS_SUPPORT_SIMULATED_CUDA_MEMORY_H_
