// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulated_cuda/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

namespace nereid::simulated_cuda {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAddresses = size_t{1} << 38;
constexpr int kUnused = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

struct Handle {
  char magic[8];
  int32_t process;
  int32_t file;
  uint64_t inode;
  uint64_t size;
};
static_assert(sizeof(Handle) <= sizeof(cuda::IpcHandle));
constexpr char kMagic[9] = "SIMCUDA1";

uint64_t InodeOf(int file) {
  struct stat about = {};
  return fstat(file, &about) == 0 ? about.st_ino : 0;
}

// -1 if the machine has no memory left.
int NewFile(size_t size) {
  const int file = memfd_create("simulated GPU memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) != 0) {
    close(file);
    return -1;
  }
  return file;
}

// Whether the range consists of whole mappings.
bool AllMapped(const Block& block, size_t offset, size_t size) {
  const size_t end = offset + size;
  while (offset < end) {
    const auto mapping = block.mappings.find(offset);
    if (mapping == block.mappings.end()) return false;
    offset += mapping->second.size;
  }
  return offset == end;
}

// Whether copies may use the range.
bool AllUsable(const Block& block, size_t offset, size_t size) {
  const size_t end = offset + size;
  while (offset < end) {
    auto after = block.mappings.upper_bound(offset);
    if (after == block.mappings.begin()) return false;
    const auto& [begin, mapping] = *--after;
    if (begin + mapping.size <= offset || !mapping.usable) return false;
    offset = begin + mapping.size;
  }
  return true;
}

}  // namespace

Memory::Memory() {
  void* addresses = mmap(nullptr, kAddresses, PROT_NONE, kUnused, -1, 0);
  if (addresses == MAP_FAILED) {
    std::perror("simulated driver: no addresses");
    std::abort();
  }
  begin_ = reinterpret_cast<uintptr_t>(addresses);
  next_ = begin_ + kPage;
}

Block* Memory::Add(Block block) {
  block.address = next_;
  next_ += block.mapped + kPage;
  if (next_ > begin_ + kAddresses) std::abort();  // a test that allocates without end
  return &blocks_.emplace(block.address, block).first->second;
}

Block* Memory::AddFile(int file, Kind kind, int device, size_t size) {
  Block block = {.kind = kind, .device = device, .size = size, .file = file};
  block.mapped = (size + kPage - 1) / kPage * kPage;
  block.inode = InodeOf(file);
  void* bytes = mmap(nullptr, block.mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  block.bytes = static_cast<char*>(bytes);
  Block* const added = Add(block);
  mmap(reinterpret_cast<void*>(added->address), added->mapped, PROT_NONE, MAP_SHARED | MAP_FIXED,
       file, 0);
  return added;
}

Block* Memory::AllocateDevice(int device, size_t size) {
  const int file = NewFile((size + kPage - 1) / kPage * kPage);
  if (file < 0) return nullptr;
  return AddFile(file, Kind::kDevice, device, size);
}

Block* Memory::AllocatePinned(int device, size_t size) {
  Block block = {.kind = Kind::kPinned, .device = device, .size = size};
  block.mapped = (size + kPage - 1) / kPage * kPage;
  Block* const added = Add(block);
  void* const address = reinterpret_cast<void*>(added->address);
  if (mprotect(address, added->mapped, PROT_READ | PROT_WRITE) != 0) {
    blocks_.erase(added->address);
    return nullptr;
  }
  added->bytes = static_cast<char*>(address);
  return added;
}

Block* Memory::Find(uintptr_t address, Kind kind) {
  const auto found = blocks_.find(address);
  return found != blocks_.end() && found->second.kind == kind ? &found->second : nullptr;
}

const Block* Memory::Holding(uintptr_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const Block& block = (--after)->second;
  return address < block.address + block.size ? &block : nullptr;
}

Range Memory::Resolve(uintptr_t address, size_t size) const {
  if (address >= begin_ + kAddresses || address + size <= begin_) {
    return {true, nullptr, reinterpret_cast<char*>(address)};
  }
  const Block* block = Holding(address);
  if (block == nullptr || address + size > block->address + block->size) return {};
  if (block->kind == Kind::kReserved && !AllUsable(*block, address - block->address, size)) {
    return {};
  }
  return {true, block, block->bytes + (address - block->address)};
}

void Memory::Free(Block* block) {
  while (!block->mappings.empty()) Unmap(block, block->mappings.begin()->first);
  if (block->kind != Kind::kPinned) munmap(block->bytes, block->mapped);
  if (block->file >= 0) close(block->file);
  // Whoever still uses the address gets SIGSEGV.
  mmap(reinterpret_cast<void*>(block->address), block->mapped, PROT_NONE, kUnused | MAP_FIXED, -1,
       0);
  blocks_.erase(block->address);
}

void Memory::FreeAllOf(int device) {
  for (auto next = blocks_.begin(); next != blocks_.end();) {
    Block& block = (next++)->second;
    if (block.device == device) Free(&block);
  }
  for (auto next = physical_.begin(); next != physical_.end();) {
    const auto one = next++;
    one->second.released |= one->second.device == device;
    DropUnused(one->first);
  }
}

Block* Memory::Reserve(int device, size_t size) {
  void* const bytes = mmap(nullptr, size, PROT_NONE, kUnused, -1, 0);
  if (bytes == MAP_FAILED) return nullptr;
  Block block = {.kind = Kind::kReserved, .device = device, .size = size, .mapped = size};
  block.bytes = static_cast<char*>(bytes);
  return Add(block);
}

cuda::MemoryBlock Memory::Create(int device, size_t size) {
  const int file = NewFile(size);
  if (file < 0) return 0;
  physical_[++last_physical_] = {.device = device, .size = size, .file = file};
  return last_physical_;
}

void Memory::DropUnused(cuda::MemoryBlock memory) {
  const auto found = physical_.find(memory);
  if (!found->second.released || found->second.mappings > 0) return;
  close(found->second.file);
  physical_.erase(found);
}

cuda::Result Memory::Release(cuda::MemoryBlock memory) {
  const auto found = physical_.find(memory);
  if (found == physical_.end() || found->second.released) return cuda::kInvalidValue;
  found->second.released = true;
  DropUnused(memory);
  return cuda::kSuccess;
}

Block* Memory::ReservedAt(uintptr_t address, size_t size) {
  auto* const block = const_cast<Block*>(Holding(address));
  const bool within = block != nullptr && block->kind == Kind::kReserved && size > 0 &&
                      size % kGranularity == 0 && (address - block->address) % kGranularity == 0 &&
                      address + size <= block->address + block->size;
  return within ? block : nullptr;
}

cuda::Result Memory::Map(uintptr_t address, size_t size, cuda::MemoryBlock memory) {
  Block* const block = ReservedAt(address, size);
  const auto found = physical_.find(memory);
  if (block == nullptr || found == physical_.end() || found->second.released ||
      found->second.size != size) {
    return cuda::kInvalidValue;
  }
  const size_t offset = address - block->address;
  const auto after = block->mappings.lower_bound(offset);
  if (after != block->mappings.end() && after->first < offset + size) return cuda::kInvalidValue;
  if (after != block->mappings.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second.size > offset) return cuda::kInvalidValue;
  }
  block->mappings[offset] = {.size = size, .memory = memory};
  ++found->second.mappings;
  const int fixed = MAP_SHARED | MAP_FIXED;
  mmap(block->bytes + offset, size, PROT_READ | PROT_WRITE, fixed, found->second.file, 0);
  return cuda::kSuccess;
}

void Memory::Unmap(Block* block, size_t offset) {
  const Mapping mapping = block->mappings[offset];
  block->mappings.erase(offset);
  mmap(block->bytes + offset, mapping.size, PROT_NONE, kUnused | MAP_FIXED, -1, 0);
  --physical_[mapping.memory].mappings;
  DropUnused(mapping.memory);
}

cuda::Result Memory::Unmap(uintptr_t address, size_t size) {
  Block* const block = ReservedAt(address, size);
  if (block == nullptr || !AllMapped(*block, address - block->address, size)) {
    return cuda::kInvalidValue;
  }
  const size_t offset = address - block->address;
  for (auto next = block->mappings.lower_bound(offset);
       next != block->mappings.end() && next->first < offset + size;) {
    Unmap(block, (next++)->first);
  }
  return cuda::kSuccess;
}

cuda::Result Memory::MakeUsable(uintptr_t address, size_t size) {
  Block* const block = ReservedAt(address, size);
  if (block == nullptr || !AllMapped(*block, address - block->address, size)) {
    return cuda::kInvalidValue;
  }
  const size_t offset = address - block->address;
  for (auto next = block->mappings.lower_bound(offset);
       next != block->mappings.end() && next->first < offset + size; ++next) {
    next->second.usable = true;
  }
  return cuda::kSuccess;
}

cuda::IpcHandle Memory::HandleOf(const Block& block) const {
  Handle handle = {
      .process = getpid(), .file = block.file, .inode = block.inode, .size = block.size};
  std::memcpy(handle.magic, kMagic, sizeof(handle.magic));
  cuda::IpcHandle bytes = {};
  std::memcpy(bytes.bytes, &handle, sizeof(handle));
  return bytes;
}

cuda::Result Memory::Open(const cuda::IpcHandle& bytes, int device, Block** opened) {
  Handle handle;
  std::memcpy(&handle, bytes.bytes, sizeof(handle));
  if (std::memcmp(handle.magic, kMagic, sizeof(handle.magic)) != 0) return cuda::kInvalidValue;
  if (handle.process == getpid()) return cuda::kInvalidContext;
  for (auto& [address, block] : blocks_) {
    if (block.kind != Kind::kOpened || block.inode != handle.inode) continue;
    ++block.opens;
    *opened = &block;
    return cuda::kSuccess;
  }
  const std::string path =
      "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cuda::kInvalidValue;
  if (InodeOf(file) != handle.inode) {  // freed, and the number used for another file
    close(file);
    return cuda::kInvalidValue;
  }
  *opened = AddFile(file, Kind::kOpened, device, handle.size);
  if (*opened == nullptr) return cuda::kOutOfMemory;
  (*opened)->opens = 1;
  return cuda::kSuccess;
}

uint64_t Memory::Count(Kind kind) const {
  uint64_t count = 0;
  for (const auto& [address, block] : blocks_) {
    if (block.kind == kind) count += kind == Kind::kOpened ? static_cast<uint64_t>(block.opens) : 1;
  }
  return count;
}

size_t Memory::BytesOn(int device) const {
  size_t bytes = 0;
  for (const auto& [address, block] : blocks_) {
    if (block.kind == Kind::kDevice && block.device == device) bytes += block.size;
  }
  for (const auto& [number, physical] : physical_) {
    if (physical.device == device) bytes += physical.size;
  }
  return bytes;
}

}  // namespace nereid::simulated_cuda
