// SPDX-License-Identifier: Apache-2.0
// ClientFiles: the tensors of a batch that are in the shared memory of clients. The process maps
// their files itself, so inputs are not copied, and outputs only once. Owned by the thread that
// executes the batch, while it holds a CommandTurn.
//
// Nothing that a client does with its file harms the server, which does not touch it here; what the
// process does about it: worker/client_files.h.
#ifndef NEREID_BACKENDS_PYTHON_CLIENT_FILES_H_
#define NEREID_BACKENDS_PYTHON_CLIENT_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/python/ipc/value.h"
#include "backends/python/transport.h"
#include "backends/sdk/file_memory.h"
#include "backends/sdk/tensor.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// Where the process may write an output.
struct OutputPlace {
  std::string output;
  FileMemory memory;
};

class ClientFiles {
 public:
  // Passes nothing: all is copied.
  ClientFiles() : transport_(nullptr), maps_inputs_(false) {}
  // `transport` outlives the object.
  explicit ClientFiles(Transport* transport)
      : transport_(transport), maps_inputs_(transport->TakeMapsInputs()) {}

  // Looks at a request of the batch. REQUIRES: all are looked at before anything is passed.
  void LookAt(TRITONBACKEND_Request* request);
  // Passes the file of an input, and completes `tensor`. False if the input has to be copied.
  bool PassInput(const InputView& input, nereid_python::Tensor* tensor);
  // Passes the files of a request's outputs.
  std::vector<OutputPlace> PassOutputs(TRITONBACKEND_Request* request,
                                       nereid_python::ValueWriter* places);

 private:
  // A part of a file, whatever its descriptor.
  struct Part {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
    bool Overlaps(const Part& other) const {
      return device == other.device && inode == other.inode && begin < other.end &&
             other.begin < end;
    }
  };

  static std::optional<Part> PartOf(const FileMemory& memory);
  // The memory of an input that the process shall map.
  std::optional<FileMemory> MappedInput(const InputView& input) const;
  // Whether the process may write there while the batch is executed.
  bool MayBeWritten(const FileMemory& memory) const;

  Transport* const transport_;
  const bool maps_inputs_;
  std::vector<Part> inputs_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_CLIENT_FILES_H_
