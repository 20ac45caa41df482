// SPDX-License-Identifier: Apache-2.0
// Mapping: a range of a file in memory, unmapped on destruction. Shared by all its readers.
#ifndef NEREID_BACKENDS_SDK_IPC_MAPPING_H_
#define NEREID_BACKENDS_SDK_IPC_MAPPING_H_

#include <cstdint>
#include <memory>

namespace nereid_ipc {

class Mapping {
 public:
  // Readable and writable, and visible to all who map the file. It may extend beyond the end of the
  // file, where it must not be touched. Null if there is no room.
  static std::shared_ptr<Mapping> Map(int fd, uint64_t offset, uint64_t size);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  // Replaces the shared memory by private memory with the same content, up to `used`, without
  // readers noticing. False if there is no room.
  bool MakePrivate(uint64_t used);

 private:
  Mapping(char* data, uint64_t size) : data_(data), size_(size) {}
  char* const data_;
  const uint64_t size_;
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_MAPPING_H_
