// SPDX-License-Identifier: Apache-2.0
// Transport: this process's end of the memory shared with the server: the control file and both
// data files, mapped; incoming commands, and outgoing calls and posts.
//
// One per process. Guarded by the GIL, except for functions documented as waiting: they REQUIRE the
// GIL to be released, and touch only what the two processes share.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_TRANSPORT_H_
#define NEREID_BACKENDS_PYTHON_WORKER_TRANSPORT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/python/ipc/block_allocator.h"
#include "backends/python/ipc/control.h"
#include "backends/python/worker/client_files.h"
#include "backends/python/worker/out_message.h"
#include "backends/python/worker/python_api.h"
#include "backends/sdk/ipc/mapping.h"
#include "backends/sdk/ipc/spinner.h"

namespace nereid_python::worker {

// InBlocks: the blocks of the in file that the server has passed to this process and that are still
// being read here. The server gets a block back when its last Keeper is gone. Guarded by the GIL.
class InBlocks {
 public:
  using GiveBack = std::function<void(uint64_t block, uint64_t size)>;
  // `give_back` is called once for each block, never within a call of this class.
  explicit InBlocks(GiveBack give_back) : give_back_(std::move(give_back)) {}

  // Keeps the block at offset `block`, which extends at least to offset `end`.
  Keeper Keep(uint64_t block, uint64_t end);
  // The offset of the block that holds all of [offset, offset + size); false if there is none.
  bool Find(uint64_t offset, uint64_t size, uint64_t* block) const;

 private:
  struct Block {
    Block(InBlocks* blocks, uint64_t offset) : blocks(blocks), offset(offset) {}
    ~Block();
    InBlocks* const blocks;
    const uint64_t offset;
    uint64_t end = 0;  // as far as it is known
  };

  const GiveBack give_back_;
  std::map<uint64_t, std::weak_ptr<Block>> blocks_;  // by offset
};

class Transport {
 public:
  // Maps the files that the server passed as the descriptors of control.h. Null, with `why` set, if
  // they are missing.
  static std::unique_ptr<Transport> Attach(std::string* why);

  Control* control() const { return control_; }
  InBlocks* in_blocks() { return &in_blocks_; }
  ClientFiles* client_files() { return &client_files_; }
  BlockAllocator* out_blocks() { return &out_blocks_; }
  char* in_data() const { return in_->data(); }
  char* out_data() const { return out_->data(); }
  // `size` bytes of the in file; false if they are not within it.
  bool InBytes(uint64_t offset, uint64_t size, std::string_view* bytes);

  // --- Commands.
  // Waits for a command, for `limit_ns` at most; 0: without limit. False if none has come.
  bool WaitForCommand(uint64_t limit_ns);
  // Takes the command, and frees the last reply unless the server says that it is to be kept. False
  // if the message has an impossible place.
  bool TakeCommand(Command* command, std::string_view* message);
  // Answers the command. Waits, without the GIL, only if the ring is full.
  void Reply(OutMessage message) { Send(std::move(message), false); }
  // Answers the next batch of kExecuteEach. False if it has no further batch.
  bool ReplyToPart(OutMessage message);
  // As Reply, but if the command or the reply has large tensors of the in file or inputs in files
  // of clients, the reply is kept back until SendReply, so that views of them can be destroyed
  // before: then they need not be copied.
  void PrepareReply(OutMessage message);
  // Sends the reply that was kept back, if there is one.
  void SendReply();

  // --- Calls and posts.
  // Sends a message without an answer. Waits, without the GIL, while too many bytes are unread.
  // Returns the number of entries so far, for AwaitRead.
  uint32_t Post(OutMessage message);
  // Waits, without the GIL, until the server has read that many entries.
  void AwaitRead(uint32_t entries);
  // Waits, without the GIL, until the server has read everything posted so far; for `limit_ns` at
  // most.
  void Settle(uint64_t limit_ns);
  // Sends a message, and waits without the GIL until the server has answered it in `slot`. The
  // caller reads the answer and then frees the slot.
  void Ask(const OutMessage& message, uint32_t* slot);
  const Slot& slot(uint32_t index) const { return control_->slots[index]; }
  void FreeSlot(uint32_t index);
  // --- Credit of the requests for further responses.
  bool HasCredit(uint64_t request) const;
  // A number that changes when any request gets its credit back.
  uint32_t credit_returns() const {
    return control_->without_credit.returns.load(std::memory_order_acquire);
  }
  // Waits, without the GIL, until that number is another one; for a while at most.
  void AwaitCreditReturn(uint32_t seen);

  // Frees what the server has read by now, and tells the server what it may free.
  void Reclaim();

 private:
  Transport(std::shared_ptr<nereid_ipc::Mapping> control, std::shared_ptr<nereid_ipc::Mapping> in,
            std::shared_ptr<nereid_ipc::Mapping> out);

  void Send(OutMessage reply, bool sole);
  // Takes the last reply as one that is kept; false if the server has not asked for that.
  bool HoldReply();
  // Frees replies that are no longer kept.
  void FreeHeld();
  // Returns a block of the in file to the server, now or when the ring has room.
  void GiveBack(uint64_t block, uint64_t size);
  void PushFrees();
  bool RingIsFull() const;
  // Writes an entry, and returns whether the server is asleep. REQUIRES: there is room.
  void Write(const Entry& entry);
  void RingDoorbell();
  void Push(const Entry& entry);
  uint32_t TakeSlot();
  // Waits until the server has read more than `read` entries, for a while at most.
  void WaitForReader(uint32_t read);

  const std::shared_ptr<nereid_ipc::Mapping> control_file_;
  const std::shared_ptr<nereid_ipc::Mapping> in_;
  const std::shared_ptr<nereid_ipc::Mapping> out_;
  Control* const control_;
  uint64_t in_size_ = 0;  // last known size of the in file, which only grows
  BlockAllocator out_blocks_;
  InBlocks in_blocks_;
  ClientFiles client_files_;

  nereid_ipc::Spinner command_spinner_;  // for the thread that waits for commands
  OutMessage last_reply_;
  std::vector<OutMessage> part_replies_;  // of the last command
  std::optional<OutMessage> prepared_;
  std::array<OutMessage, Control::kMostHeld> held_;  // see Control::held
  // Posts that the server has not read, oldest first, with the entry count that shows it has read
  // them.
  std::deque<std::pair<uint32_t, OutMessage>> posts_;
  uint64_t posted_bytes_ = 0;
  std::vector<uint64_t> frees_;  // blocks that wait for room in the ring
  uint64_t quiet_bytes_ = 0;     // of blocks given back since the doorbell was last looked at
  uint32_t quiet_frees_ = 0;
  std::vector<uint32_t> free_slots_;
  uint32_t slot_waiters_ = 0;
  std::atomic<uint32_t> slots_freed_{0};  // a thread that finds no free slot waits for a change
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_TRANSPORT_H_
