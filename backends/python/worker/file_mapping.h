// FileMapping: a part of a client's file in the memory of this process. What the client does with
// its file does no harm here: its bytes may change at any time, and pages that it takes away are
// read as zeros (PageGuard). Guarded by the GIL; the memory itself is used without it.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_FILE_MAPPING_H_
#define NEREID_BACKENDS_PYTHON_WORKER_FILE_MAPPING_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <tuple>

#include "backends/python/worker/page_guard.h"
#include "backends/python/worker/private_pages.h"

namespace nereid_python::worker {

class FileMapping {
 public:
  enum class Kind {
    kInput,   // private: what is written here does not reach the file
    kOutput,  // shared
  };
  // Which bytes of which file. Two parts that are equal can use the same mapping.
  struct Part {
    Kind kind = Kind::kInput;
    dev_t device = 0;
    ino_t inode = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    bool operator==(const Part& other) const {
      return std::tie(kind, device, inode, offset, size) ==
             std::tie(other.kind, other.device, other.inode, other.offset, other.size);
    }
  };

  // The part of `file` that has these bytes. False if its inode cannot be read.
  static bool PartOf(int file, Kind kind, uint64_t offset, uint64_t size, Part* part);
  // Null, with errno set, if there is no room.
  static std::unique_ptr<FileMapping> Map(int file, const Part& part);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  const Part& part() const { return part_; }
  char* data() const { return data_; }
  // What its user notes of its last use; 0: nothing.
  uint64_t last_use() const { return last_use_; }
  void set_last_use(uint64_t use) { last_use_ = use; }
  // Whether the client has taken pages away that were used here since.
  bool damaged() const { return guard_.damaged(); }
  // Whether this process has changed bytes of an input.
  bool IsWritten(const PrivatePages& pages) const { return pages.Any(base_, mapped_); }
  // Makes the bytes of an input those of this process, as they are now; neither readers nor writers
  // notice. If the client truncates the file later, they become zeros.
  void Detach();

 private:
  explicit FileMapping(const Part& part) : part_(part) {}

  const Part part_;
  char* base_ = nullptr;  // of the mapping, which begins at a page
  uint64_t mapped_ = 0;
  char* data_ = nullptr;
  uint64_t last_use_ = 0;
  PageGuard guard_;
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_FILE_MAPPING_H_
