// SPDX-License-Identifier: Apache-2.0
// ChannelMemory: the memory that a model instance in the server shares with its thread in the
// worker: a header, which never moves, and data, which grows. It is an unnamed file (memfd_create)
// that cannot shrink and gets its pages before anybody touches them, so that a lack of memory is an
// error and not a signal.
//
// Owned by one thread in each process, which touches data and header only when it has the turn. The
// header's turn may be closed by any thread.
#ifndef NEREID_BACKENDS_TENSORFLOW_IPC_CHANNEL_MEMORY_H_
#define NEREID_BACKENDS_TENSORFLOW_IPC_CHANNEL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/sdk/ipc/mapping.h"
#include "backends/sdk/ipc/turn.h"
#include "backends/sdk/ipc/unique_fd.h"
#include "backends/tensorflow/ipc/status.h"

namespace nereid_tensorflow {

using nereid_ipc::Mapping;
using nereid_ipc::Turn;
using nereid_ipc::UniqueFd;

struct ChannelHeader {
  Turn turn;
  // Of the data, in the file; and how much of it, from the beginning, has pages.
  uint64_t data_size = 0;
  uint64_t paged_size = 0;
  // The RunRequest or RunReply, in the data.
  uint64_t message_offset = 0;
  uint64_t message_size = 0;
  // Around the computation, on CLOCK_MONOTONIC.
  uint64_t compute_start_ns = 0;
  uint64_t compute_end_ns = 0;
};

class ChannelMemory {
 public:
  // Limit on the size of all tensors of a run.
  static constexpr uint64_t kMaxSize = uint64_t{16} << 30;

  static Status Create(std::unique_ptr<ChannelMemory>* memory);
  // The other end of a memory made by Create.
  static Status Attach(UniqueFd fd, std::unique_ptr<ChannelMemory>* memory);

  int fd() const { return fd_.get(); }
  ChannelHeader* header() const { return reinterpret_cast<ChannelHeader*>(header_->data()); }
  // For threads that may outlive the object.
  std::shared_ptr<Mapping> header_mapping() const { return header_; }
  char* data() const { return data_->data(); }
  uint64_t size() const { return data_->size(); }
  const std::shared_ptr<Mapping>& data_mapping() const { return data_; }

  // Makes the first `size` bytes of the data usable. The data may move. REQUIRES: it is the
  // caller's turn.
  Status Reserve(uint64_t size);
  // Frees the pages after the first `size` bytes. REQUIRES: as above.
  void Trim(uint64_t size);
  // Maps the data in the size that the other end has given it.
  Status Refresh();
  // Leaves `mapping`, the current or a former mapping of the data, to its remaining readers, and
  // gives it separate memory. `used`: how much of it they may read.
  Status Detach(const std::shared_ptr<Mapping>& mapping, uint64_t used);

  // The message left by the other end; empty if it is not within the data.
  std::string_view message() const;
  // Leaves a message at `offset`. The data may move.
  Status PutMessage(uint64_t offset, std::string_view bytes);

 private:
  ChannelMemory(UniqueFd fd, std::shared_ptr<Mapping> header)
      : fd_(std::move(fd)), header_(std::move(header)) {}
  Status MapData();

  const UniqueFd fd_;
  const std::shared_ptr<Mapping> header_;
  std::shared_ptr<Mapping> data_;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_CHANNEL_MEMORY_H_
