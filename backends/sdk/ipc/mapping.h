// Mapping: a stretch of a file in memory, unmapped at the end. Shared by whoever still reads it.
#ifndef NEREID_BACKENDS_SDK_IPC_MAPPING_H_
#define NEREID_BACKENDS_SDK_IPC_MAPPING_H_

#include <cstdint>
#include <memory>

namespace nereid_ipc {

class Mapping {
 public:
  // Readable and writable, and seen by all who map the file. It may reach beyond the end of the
  // file; nothing may be touched there. Null when there is no room.
  static std::shared_ptr<Mapping> Map(int fd, uint64_t offset, uint64_t size);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  // Puts private memory of the same content, as far as `used` goes, in place of what is shared;
  // readers notice nothing. False when there is no room.
  bool MakePrivate(uint64_t used);

 private:
  Mapping(char* data, uint64_t size) : data_(data), size_(size) {}
  char* const data_;
  const uint64_t size_;
};

}  // namespace nereid_ipc

#endif  // NEREID_BACKENDS_SDK_IPC_MAPPING_H_
