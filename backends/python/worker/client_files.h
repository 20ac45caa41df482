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

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "backends/python/worker/file_mapping.h"
#include "backends/python/worker/private_pages.h"
#include "backends/python/worker/python_api.h"
#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_python::worker {

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
