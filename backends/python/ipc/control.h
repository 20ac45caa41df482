// SPDX-License-Identifier: Apache-2.0
// Memory that the server and the process of a Python model share, apart from the bytes of tensors:
// commands, calls, and who must be woken. It is in a memory file of a fixed size, the control file.
// The bytes of messages and tensors are in two others: the in file, which the server writes, and
// the out file, which the process writes. docs/adr/0018 explains why.
//
// The server does not trust what the process writes here: it copies each number once and checks the
// copy.
#ifndef NEREID_BACKENDS_PYTHON_IPC_CONTROL_H_
#define NEREID_BACKENDS_PYTHON_IPC_CONTROL_H_

#include <atomic>
#include <cstdint>

#include "backends/python/ipc/protocol.h"
#include "backends/sdk/ipc/turn.h"

namespace nereid_python {

inline constexpr uint32_t kMagic = 0x4e505933;  // server and process are always built together
// The descriptors of the process.
inline constexpr int kControlFd = 3;
inline constexpr int kInFd = 4;
inline constexpr int kOutFd = 5;
inline constexpr int kDoorbellFd = 6;  // an eventfd: the ring is not empty
inline constexpr int kFilesFd = 7;     // a socket: files of clients, see file_message.h

// How much of the in file and of the out file is mapped, from the beginning; they never grow beyond
// this.
inline constexpr uint64_t kMaxData = uint64_t{16} << 30;
inline constexpr uint64_t kBlockAlignment = 64;
// Tensors of at least this size may be sent to clients from where they are, and the process maps
// those in the shared memory of clients itself. For smaller ones, a copy costs less.
inline constexpr uint64_t kLeastLent = uint64_t{256} << 10;

// The ring: from the process to the server. Its entries have one size, so they never wrap.
enum class EntryKind : uint32_t {
  kCall = 1,     // a message in the out file; the answer goes into `slot`
  kPost = 2,     // a message in the out file; no answer
  kFree = 3,     // the block at `offset` of the in file is unused now
  kReplied = 4,  // to a command that asked for this entry
};

struct Entry {
  uint32_t kind = 0;
  uint32_t slot = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct Ring {
  static constexpr uint32_t kEntries = 1024;  // a power of two: counters overflow

  // Total numbers of entries written and read.
  alignas(64) std::atomic<uint32_t> written{0};
  // 1: the server sleeps. Whoever resets it rings the doorbell.
  std::atomic<uint32_t> sleeping{1};
  // The process waits on this word if the ring is full, and until posts have been read.
  alignas(64) std::atomic<uint32_t> read{0};
  // 1: a thread of the process sleeps on `read`.
  std::atomic<uint32_t> writer_sleeps{0};
  alignas(64) Entry entries[kEntries];
};

// A slot in which a thread of the process waits for the answer to a call.
struct Slot {
  enum State : uint32_t { kFree, kAsked, kAnswered };
  static constexpr uint32_t kInlineSize = 216;

  std::atomic<uint32_t> state{kFree};
  uint32_t inline_size = 0;  // >0: the answer is in inline_bytes
  // Otherwise in the in file: `size` bytes at `offset`, in the block at `block`.
  uint64_t block = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  char inline_bytes[kInlineSize] = {};
};

// Whether the process keeps a reply whose tensors the server lends to responses: its message, its
// block of the out file, and the blocks of the in file that it names.
enum class Held : uint32_t {
  kNot,   // the process sets it when it has freed the reply
  kHeld,  // the server sets it with a command, see keep_reply
  kOver,  // the server sets it: no response needs the reply any more
};

// The reply to one batch of kExecuteEach.
struct Part {
  uint64_t reply_offset = 0;  // in the out file
  uint64_t reply_size = 0;
  uint64_t compute_start_ns = 0;  // as in Control
  uint64_t compute_end_ns = 0;
};

// The requests that have no credit for further responses, because their clients read slowly. The
// server writes it when a request loses its credit or gets it back; whoever wants to send looks for
// its request here. One that finds no place does not wait for credit.
struct WithoutCredit {
  static constexpr uint32_t kMost = 1024;

  // Changes when a request gets its credit back; threads of the process sleep on it.
  std::atomic<uint32_t> returns{0};
  std::atomic<uint32_t> used{0};               // no place from here on was ever taken
  std::atomic<uint64_t> requests[kMost] = {};  // numbers; 0: the place is free
};

struct Control {
  static constexpr uint32_t kMostParts = 16;
  static constexpr uint32_t kSlots = 256;
  static constexpr uint32_t kMostHeld = 8;  // replies at a time

  uint32_t magic = kMagic;
  uint32_t command = 0;
  nereid_ipc::Turn turn;
  uint32_t wants_replied =
      0;  // 1: the process puts kReplied into the ring after it has passed the turn
  uint64_t message_offset = 0;  // in the in file
  uint64_t message_size = 0;
  uint64_t reply_offset = 0;  // in the out file
  uint64_t reply_size = 0;
  // Around the model's execute, on CLOCK_MONOTONIC.
  uint64_t compute_start_ns = 0;
  uint64_t compute_end_ns = 0;
  // Bit i: lines of TRITONSERVER_LogLevel i are wanted.
  std::atomic<uint32_t> log_levels{7};
  // With a reply: 1: nothing in the process but this reply refers to the blocks of the in file that
  // it names, so nobody there changes them any more.
  uint32_t sole_reply = 0;
  // With a command: 0: the last reply is freed; otherwise held[keep_reply - 1] says for how long it
  // is kept.
  uint32_t keep_reply = 0;
  std::atomic<uint32_t> held[kMostHeld] = {};
  // 1: the process can map inputs in the shared memory of clients.
  std::atomic<uint32_t> maps_inputs{0};
  // With a reply: 1: mapping inputs was not worthwhile, because the model has written to them or
  // has kept them. The process then had to make copies, which cost more than those of the server.
  uint32_t inputs_taken = 0;
  Ring ring;
  alignas(64) Slot slots[kSlots];
  // Of kExecuteEach: how many batches there are, and how many have a reply, in their order. The
  // server sets both with the command. The process keeps the replies until the next command; it
  // notifies the server of each, and passes the turn with the last.
  alignas(64) uint32_t part_count = 0;
  std::atomic<uint32_t> parts_replied{0};
  Part parts[kMostParts] = {};
  alignas(64) WithoutCredit without_credit;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

inline constexpr uint64_t kControlFileSize = (sizeof(Control) + 4095) / 4096 * 4096;

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_PYTHON_IPC_CONTROL_H_
