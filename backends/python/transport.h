// SPDX-License-Identifier: Apache-2.0
// Transport: the server's end of the memory shared with the process of a Python model: memory for
// messages and tensors, one command at a time, and the ring of the process's reports. Thread-safe,
// except for entries and the doorbell, which one thread handles.
#ifndef NEREID_BACKENDS_PYTHON_TRANSPORT_H_
#define NEREID_BACKENDS_PYTHON_TRANSPORT_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/python/ipc/block_allocator.h"
#include "backends/python/ipc/control.h"
#include "backends/python/ipc/value.h"
#include "backends/sdk/error.h"
#include "backends/sdk/ipc/mapping.h"
#include "backends/sdk/ipc/spinner.h"
#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_backend {

class Transport {
 public:
  // A range of the in file.
  struct Block {
    uint64_t offset = 0;
    char* data = nullptr;
  };

  static Result<std::shared_ptr<Transport>> Create();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // The descriptors for the process, in the order of kControlFd and the following.
  std::vector<int> descriptors() const {
    return {control_fd_.get(), in_fd_.get(), out_fd_.get(), doorbell_.get(), files_process_.get()};
  }
  int doorbell() const { return doorbell_.get(); }
  // Wakes the thread that watches the doorbell.
  void Ring() const;

  // UNAVAILABLE if there is no memory.
  Result<Block> Allocate(uint64_t size);
  void Free(uint64_t offset);
  // Whether the files have so much memory that some may be given back.
  bool large() const { return large_.load(std::memory_order_relaxed); }
  // Gives back the memory that nothing has needed since the last call, here and in the process;
  // does nothing during a command. Does not wait. For the thread that watches the doorbell, once in
  // a while as long as large(): the doorbell rings when that begins.
  void Trim();

  // The bytes of a tensor that the process names; INTERNAL if that place is impossible.
  Result<std::string_view> BytesOf(const nereid_python::Tensor& tensor) const;

  // --- Files of clients. REQUIRES: this thread holds a CommandTurn.
  // Whether the process shall map the inputs of the next command that are in such files, rather
  // than get copies.
  bool TakeMapsInputs();
  // Passes a file to the process. Returns its number for Tensor::block; empty if that is not
  // possible now.
  std::optional<uint64_t> SendFile(int file);

  // The reply to a batch; valid as long as the turn is held.
  struct PartReply {
    std::string_view message;
    uint64_t compute_start = 0;
    uint64_t compute_end = 0;
  };

  // Sends a command without waiting: the process reports by kReplied that it has answered.
  // REQUIRES: no other command is in progress.
  Error Begin(nereid_python::Command command, const nereid_python::ValueWriter& message);
  // The reply to the command that was begun; valid until the next command.
  Result<std::string_view> Reply() const;

  // Keeps the tensors of the last reply where they are until the pointer is dropped, which any
  // thread may do, whatever commands follow. Null if the process keeps as many replies as it may.
  // REQUIRES: this thread holds a CommandTurn; called once for a reply.
  static std::shared_ptr<const void> HoldReply(const std::shared_ptr<Transport>& transport);
  // Whether nobody in the process can change the tensors of the last reply that are in the in file.
  bool sole_reply() const { return control()->sole_reply == 1; }

  // Sends a command and waits for the reply, which is valid as long as the turn is held;
  // `nanoseconds` 0: without limit. UNAVAILABLE if the process has ended or does not answer in that
  // time; a reply that comes later is ignored. REQUIRES: this thread holds a CommandTurn.
  Result<std::string_view> Run(nereid_python::Command command,
                               const nereid_python::ValueWriter& message, uint64_t nanoseconds = 0);
  // Sends kExecuteEach with `count` <= Control::kMostParts batches, and does not wait. As for Run.
  Error BeginEach(const nereid_python::ValueWriter& message, uint32_t count);
  // Waits for the reply to batch `part`, counted from 0. UNAVAILABLE if the process has ended
  // before. REQUIRES: the command was begun with this CommandTurn.
  Result<PartReply> AwaitPart(uint32_t part);
  uint64_t compute_start() const { return control()->compute_start_ns; }
  uint64_t compute_end() const { return control()->compute_end_ns; }

  // Takes the process's next entry; its message is valid until EndEntry. False if there is none.
  bool NextEntry(nereid_python::Entry* entry);
  void EndEntry();
  // The message of a call or post.
  Result<std::string_view> MessageOf(const nereid_python::Entry& entry) const;
  // From now on the doorbell rings. False if the ring already has an entry.
  bool Sleep();
  void ClearDoorbell();

  // --- Credit of requests, by their numbers. The process sees it at once.
  // False if too many have none: then the request goes on as if it had credit.
  bool WithdrawCredit(uint64_t request);
  void ReturnCredit(uint64_t request);

  // Answers the call that waits in `slot`.
  void Answer(uint32_t slot, const nereid_python::ValueWriter& message);
  // The process has ended, so no further command or answer is possible.
  void Close();
  bool closed() const { return control()->turn.now() == nereid_ipc::Turn::kClosed; }

 private:
  friend class CommandTurn;
  class Hold;

  Transport() = default;
  // False if another thread keeps the turn for longer than that; 0: waits without limit.
  bool TakeTurn(uint64_t nanoseconds);
  void GiveTurn();
  nereid_python::Control* control() const {
    return reinterpret_cast<nereid_python::Control*>(control_mapping_->data());
  }
  Result<std::string_view> OutBytes(uint64_t offset, uint64_t size) const;
  void BecomeLarge() const;
  Error Put(nereid_python::Command command, const nereid_python::ValueWriter& message,
            bool wants_replied);
  Error PassTurn();
  // Waits until the process has answered its last command, for `nanoseconds` at most (0: no limit).
  Error AwaitTurn(uint64_t nanoseconds);
  // The number of a reply that may be held; -1 if there is none.
  int TakeHold();
  void EndHold(int number);
  // Tells the process, before it gets the next command, whether to keep its last reply.
  void TellHold();

  nereid_ipc::UniqueFd control_fd_;
  nereid_ipc::UniqueFd in_fd_;
  nereid_ipc::UniqueFd out_fd_;
  nereid_ipc::UniqueFd doorbell_;
  nereid_ipc::UniqueFd files_server_;
  nereid_ipc::UniqueFd files_process_;
  std::shared_ptr<nereid_ipc::Mapping> control_mapping_;
  std::shared_ptr<nereid_ipc::Mapping> in_;
  std::shared_ptr<nereid_ipc::Mapping> out_;

  mutable std::mutex mu_;
  std::unique_ptr<nereid_python::BlockAllocator> blocks_;  // guarded by mu_
  // The replies that are held: those of which the process was told.
  std::array<bool, nereid_python::Control::kMostHeld> told_{};  // guarded by mu_
  int untold_ = -1;  // the last reply, if it is held and the process was not told; guarded by mu_
  std::condition_variable command_over_;
  bool command_busy_ = false;  // guarded by mu_
  // The turn of commands belongs to the thread that set command_busy_.
  nereid_ipc::Spinner spinner_;
  uint64_t message_block_ = 0;
  bool has_message_block_ = false;
  uint64_t files_sent_ = 0;
  uint32_t copied_commands_ = 0;  // how many further commands get copies of inputs
  // The known size of the out file.
  mutable std::atomic<uint64_t> out_size_{0};
  mutable std::atomic<bool> large_{false};
  uint64_t left_ = 0;  // by the last Trim, as long as large(); only Trim uses it
};

// The right to send commands, held until destruction.
class CommandTurn {
 public:
  // Waits for the right, but no longer than `nanoseconds` if that is set: see held().
  explicit CommandTurn(Transport* transport, uint64_t nanoseconds = 0)
      : transport_(transport), held_(transport->TakeTurn(nanoseconds)) {}
  ~CommandTurn() {
    if (held_) transport_->GiveTurn();
  }
  CommandTurn(const CommandTurn&) = delete;
  CommandTurn& operator=(const CommandTurn&) = delete;

  bool held() const { return held_; }

 private:
  Transport* const transport_;
  const bool held_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_TRANSPORT_H_
