// SPDX-License-Identifier: Apache-2.0
// ClientFiles: the shared memory of clients that this process maps, so that inputs and outputs
// there need no copy in between. Guarded by the GIL.
//
// An input is mapped privately, for one tensor at a time, so models may write to it as to any
// other. The client may change the memory when it has its answer. So what a model still has then,
// at the end of a command or when it answers a request itself, is detached: a copy takes the place
// of the client's memory, at the same address.
//
// A mapping that is not in use is kept for a while, since making one costs as much as a copy. The
// files are kept as long, also if the client has removed them.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_CLIENT_FILES_H_
#define NEREID_BACKENDS_PYTHON_WORKER_CLIENT_FILES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "backends/python/worker/python_api.h"
#include "backends/sdk/ipc/unique_fd.h"
#include "plain/page_guard.h"

namespace nereid_python::worker {

// PrivatePages: tells whether a private mapping of a file has pages that were written to, and are
// no longer those of the file. The kernel says so in /proc/self/pagemap. Thread-safe.
class PrivatePages {
 public:
  // Of this process; a process that it forks needs an object of its own.
  PrivatePages();

  // False if the kernel does not tell.
  bool works() const { return works_; }
  // Whether a page in [base, base + size) was written to, in whole pages; true if that cannot be
  // found out.
  bool Any(const char* base, size_t size) const;

 private:
  bool Scan(uintptr_t begin, uintptr_t end, bool* any) const;
  bool Read(uintptr_t begin, uintptr_t end, bool* any) const;
  // Whether what Any says about a mapping is right.
  bool Try() const;

  nereid_ipc::UniqueFd pagemap_;
  const size_t page_size_;
  bool scans_ = true;
  bool works_ = false;
};

// FileMapping: a part of a client's file in the memory of this process. What the client does with
// its file does no harm here: its bytes may change at any time, and pages that it takes away are
// read as zeros (PageGuard). Guarded by the GIL; the memory itself is used without it.
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
  bool damaged() const { return guard_->damaged(); }
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
  std::optional<nereid::PageGuard> guard_;
};

class ClientFiles {
 public:
  // Mappings are kept for so long after their last use.
  static constexpr uint64_t kKeptNs = 1'000'000'000;

  // Whether inputs can be mapped.
  bool maps_inputs() const { return pages_.works(); }
  // An input: `size` bytes of the file with that number, mapped or, if there is no room for a
  // mapping, copied. Null, with errno set, if this process can have no further descriptor. Here and
  // below the keeper keeps the bytes, and numbers ascend from call to call.
  char* Input(uint64_t number, uint64_t offset, uint64_t size, Keeper* keeper);
  // A place for an output, and whether it has left the caches since the last time. Null, with errno
  // set, if it cannot be mapped.
  char* Place(uint64_t number, uint64_t offset, uint64_t size, Keeper* keeper, bool* cold);
  // Detaches the inputs that are still in use.
  void Detach();
  bool HasInputs() const { return !inputs_.empty(); }
  // Whether inputs were detached or written to since the last call.
  bool TakeTaken() { return std::exchange(taken_, false); }

  // Whether there are mappings that are not in use.
  bool HasUnused() const { return !unused_.empty(); }
  // Ends those that have not been used for kKeptNs.
  void EndUnused();

 private:
  // More are not kept.
  static constexpr size_t kMostUnused = 32;

  struct Unused {
    std::unique_ptr<FileMapping> mapping;
    uint64_t since_ns;
  };
  // A mapping in use.
  struct Use;
  // What the server has passed: the file, and which bytes of it.
  struct File {
    nereid_ipc::UniqueFd descriptor;
    FileMapping::Part part;
  };

  // The file with that number. None, with errno set, if it cannot be had.
  std::optional<File> Receive(uint64_t number, FileMapping::Kind kind, uint64_t offset,
                              uint64_t size);
  char* Map(const File& file, Keeper* keeper);
  // Whether `place` has left the caches since it was last used. It is used now.
  bool UseCold(FileMapping* place);
  std::unique_ptr<FileMapping> Take(const FileMapping::Part& part);
  void GiveBack(std::unique_ptr<FileMapping> mapping, int64_t faults_before);

  const PrivatePages pages_;
  uint64_t received_ = 0;          // the last number
  std::set<FileMapping*> inputs_;  // in use, and not detached
  std::deque<Unused> unused_;      // the one that was used last comes last
  bool taken_ = false;
  uint64_t placed_ = 0;  // bytes of all outputs so far
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_CLIENT_FILES_H_
