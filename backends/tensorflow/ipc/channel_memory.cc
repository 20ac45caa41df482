// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/ipc/channel_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "backends/sdk/ipc/memory_file.h"

namespace nereid_tensorflow {
namespace {

constexpr uint64_t kHeaderSize = 4096;
constexpr uint64_t kGrain = uint64_t{64} << 10;
static_assert(sizeof(ChannelHeader) <= kHeaderSize);

uint64_t RoundUp(uint64_t size) { return (size + kGrain - 1) / kGrain * kGrain; }

Status NoMemory(const char* what) {
  return Status::Unavailable(
      std::string("failed to ") + what +
      " the memory shared with the TensorFlow process: " + std::strerror(errno));
}

}  // namespace

Status ChannelMemory::Create(std::unique_ptr<ChannelMemory>* memory) {
  UniqueFd fd = nereid_ipc::CreateMemoryFile("nereid-tensorflow", kHeaderSize + kGrain);
  if (!fd.valid()) return NoMemory("create");
  std::shared_ptr<Mapping> header = Mapping::Map(fd.get(), 0, kHeaderSize);
  if (header == nullptr) return NoMemory("map");
  auto* const made = new (header->data()) ChannelHeader;
  made->data_size = made->paged_size = kGrain;
  memory->reset(new ChannelMemory(std::move(fd), std::move(header)));
  return (*memory)->MapData();
}

Status ChannelMemory::Attach(UniqueFd fd, std::unique_ptr<ChannelMemory>* memory) {
  std::shared_ptr<Mapping> header = Mapping::Map(fd.get(), 0, kHeaderSize);
  if (header == nullptr) return NoMemory("map");
  memory->reset(new ChannelMemory(std::move(fd), std::move(header)));
  return (*memory)->MapData();
}

// The header, which the other process can write, is trusted only up to the size of the file.
Status ChannelMemory::MapData() {
  struct stat file {};
  if (fstat(fd_.get(), &file) != 0) return NoMemory("read the size of");
  const uint64_t size = header()->data_size;
  if (size == 0 || size > kMaxSize || static_cast<uint64_t>(file.st_size) < kHeaderSize + size) {
    return Status::Internal(
        "the memory shared with the TensorFlow process has a size that it can not have");
  }
  std::shared_ptr<Mapping> data = Mapping::Map(fd_.get(), kHeaderSize, size);
  if (data == nullptr) return NoMemory("map");
  data_ = std::move(data);
  return {};
}

Status ChannelMemory::Reserve(uint64_t size) {
  if (size <= header()->paged_size && size <= data_->size()) return {};
  if (size > kMaxSize) {
    return Status::InvalidArgument("the tensors of a run take " + std::to_string(size) +
                                   " bytes, more than the " + std::to_string(kMaxSize) +
                                   " bytes that the TensorFlow process can be given");
  }
  const uint64_t rounded = RoundUp(size);
  if (rounded > header()->paged_size) {
    if (!nereid_ipc::AllocatePages(fd_.get(), kHeaderSize, rounded)) return NoMemory("enlarge");
    header()->paged_size = rounded;
    header()->data_size = std::max(header()->data_size, rounded);
  }
  return Refresh();
}

void ChannelMemory::Trim(uint64_t size) {
  const uint64_t rounded = std::max(kGrain, RoundUp(size));
  const uint64_t paged = header()->paged_size;
  if (rounded >= paged) return;
  if (!nereid_ipc::ReleasePages(fd_.get(), kHeaderSize + rounded, paged - rounded)) {
    return;  // the pages stay allocated
  }
  header()->paged_size = rounded;
}

Status ChannelMemory::Refresh() {
  if (header()->data_size == data_->size()) return {};
  return MapData();
}

Status ChannelMemory::Detach(const std::shared_ptr<Mapping>& mapping, uint64_t used) {
  if (!mapping->MakePrivate(used)) return NoMemory("copy");
  return mapping == data_ ? MapData() : Status();
}

std::string_view ChannelMemory::message() const {
  const uint64_t offset = header()->message_offset;
  const uint64_t size = header()->message_size;
  if (offset > data_->size() || size > data_->size() - offset) return {};
  return {data_->data() + offset, size};
}

Status ChannelMemory::PutMessage(uint64_t offset, std::string_view bytes) {
  Status status = Reserve(offset + bytes.size());
  if (!status.ok()) return status;
  std::memcpy(data_->data() + offset, bytes.data(), bytes.size());
  header()->message_offset = offset;
  header()->message_size = bytes.size();
  return {};
}

}  // namespace nereid_tensorflow
