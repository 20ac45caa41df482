// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/transport.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "backends/python/worker/process.h"
#include "backends/python/worker/python_api.h"
#include "backends/sdk/ipc/futex.h"

namespace nereid_python::worker {
namespace {

// Bytes of the out file that posts may hold before a posting thread must wait.
constexpr uint64_t kMostPosted = uint64_t{64} << 20;
// Returned blocks do not wake the server while they are few and small: it finds them at its next
// check.
constexpr uint64_t kMostQuietBytes = uint64_t{256} << 10;
constexpr uint32_t kMostQuietFrees = 128;
// The server wakes waiting threads; checking here as well costs nothing.
constexpr uint64_t kLookAgainNs = 100'000'000;

// Whether the counter `now` has reached `goal`. Both wrap around.
bool Reached(uint32_t now, uint32_t goal) { return static_cast<int32_t>(now - goal) >= 0; }

}  // namespace

Keeper InBlocks::Keep(uint64_t block, uint64_t end) {
  std::weak_ptr<Block>& known = blocks_[block];
  std::shared_ptr<Block> kept = known.lock();
  if (kept == nullptr) {
    kept = std::make_shared<Block>(this, block);
    known = kept;
  }
  kept->end = std::max(kept->end, end);
  return kept;
}

bool InBlocks::Find(uint64_t offset, uint64_t size, uint64_t* block) const {
  auto next = blocks_.upper_bound(offset);
  if (next == blocks_.begin()) return false;
  const std::shared_ptr<Block> found = std::prev(next)->second.lock();
  if (found == nullptr || offset + size > found->end) return false;
  *block = found->offset;
  return true;
}

InBlocks::Block::~Block() {
  blocks->blocks_.erase(offset);
  blocks->give_back_(offset, end - offset);
}

std::unique_ptr<Transport> Transport::Attach(std::string* why) {
  struct stat status {};
  if (fstat(kControlFd, &status) != 0 || status.st_size < static_cast<off_t>(kControlFileSize)) {
    *why = "this process was not started by the server: it has no control file";
    return nullptr;
  }
  auto control = nereid_ipc::Mapping::Map(kControlFd, 0, kControlFileSize);
  auto in = nereid_ipc::Mapping::Map(kInFd, 0, kMaxData);
  auto out = nereid_ipc::Mapping::Map(kOutFd, 0, kMaxData);
  if (control == nullptr || in == nullptr || out == nullptr) {
    *why = "the memory shared with the server cannot be mapped";
    return nullptr;
  }
  if (reinterpret_cast<Control*>(control->data())->magic != kMagic) {
    *why = "the server is of another release than this module";
    return nullptr;
  }
  return std::unique_ptr<Transport>(
      new Transport(std::move(control), std::move(in), std::move(out)));
}

Transport::Transport(std::shared_ptr<nereid_ipc::Mapping> control,
                     std::shared_ptr<nereid_ipc::Mapping> in,
                     std::shared_ptr<nereid_ipc::Mapping> out)
    : control_file_(std::move(control)),
      in_(std::move(in)),
      out_(std::move(out)),
      control_(reinterpret_cast<Control*>(control_file_->data())),
      out_blocks_(kOutFd, kMaxData),
      in_blocks_([this](uint64_t block, uint64_t size) { GiveBack(block, size); }) {
  for (uint32_t i = Control::kSlots; i-- > 0;) free_slots_.push_back(i);
  control_->maps_inputs.store(client_files_.maps_inputs() ? 1 : 0, std::memory_order_relaxed);
}

bool Transport::InBytes(uint64_t offset, uint64_t size, std::string_view* bytes) {
  if (offset > kMaxData || size > kMaxData - offset) return false;
  if (offset + size > in_size_) {
    struct stat status {};
    if (fstat(kInFd, &status) == 0) in_size_ = static_cast<uint64_t>(status.st_size);
    if (offset + size > in_size_) return false;
  }
  *bytes = std::string_view(in_data() + offset, size);
  return true;
}

bool Transport::WaitForCommand(uint64_t limit_ns) {
  using nereid_ipc::Turn;
  const Turn::Owner owner =
      limit_ns == 0 ? control_->turn.WaitWhile(Turn::kServer, &command_spinner_)
                    : control_->turn.WaitWhileFor(Turn::kServer, limit_ns, &command_spinner_);
  return owner != Turn::kServer;
}

bool Transport::TakeCommand(Command* command, std::string_view* message) {
  if (!HoldReply()) last_reply_ = OutMessage();
  // Destroying a message may run Python code, so it is taken out first.
  std::exchange(part_replies_, {});
  Reclaim();
  client_files_.EndUnused();
  *command = static_cast<Command>(control_->command);
  return InBytes(control_->message_offset, control_->message_size, message);
}

bool Transport::HoldReply() {
  const uint32_t number = control_->keep_reply;
  if (number == 0 || number > held_.size()) return false;
  held_[number - 1] = std::exchange(last_reply_, OutMessage());
  return true;
}

// The server may have set kOver before the command arrives with which the reply becomes one that is
// kept. Destroying a message may run Python code that calls this function again, so it is taken out
// first.
void Transport::FreeHeld() {
  for (size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].empty()) continue;
    std::atomic<uint32_t>& held = control_->held[i];
    if (held.load(std::memory_order_acquire) != static_cast<uint32_t>(Held::kOver)) continue;
    const OutMessage done = std::exchange(held_[i], OutMessage());
    held.store(static_cast<uint32_t>(Held::kNot), std::memory_order_release);
  }
}

void Transport::PrepareReply(OutMessage message) {
  if (message.largest_kept() < kLeastLent && !client_files_.HasInputs()) {
    return Reply(std::move(message));
  }
  prepared_ = std::move(message);
}

void Transport::SendReply() {
  if (!prepared_.has_value()) return;
  OutMessage reply = *std::exchange(prepared_, std::nullopt);
  const bool sole = reply.largest_kept() >= kLeastLent && reply.IsSoleOwner();
  Send(std::move(reply), sole);
}

bool Transport::ReplyToPart(OutMessage message) {
  const uint32_t part = control_->parts_replied.load(std::memory_order_relaxed);
  if (part >= std::min(control_->part_count, Control::kMostParts)) return false;
  const bool last = part + 1 == control_->part_count;
  control_->parts[part] = {message.offset(), message.size(),
                           std::exchange(control_->compute_start_ns, 0),
                           std::exchange(control_->compute_end_ns, 0)};
  part_replies_.push_back(std::move(message));
  control_->parts_replied.store(part + 1, std::memory_order_release);
  if (last) {
    control_->turn.Pass(nereid_ipc::Turn::kWorker, nereid_ipc::Turn::kServer);
  } else {
    control_->turn.Notify(nereid_ipc::Turn::kWorker);
  }
  return true;
}

// From the answer on, clients may change their memory.
void Transport::Send(OutMessage reply, bool sole) {
  client_files_.Detach();
  if (client_files_.TakeTaken()) control_->inputs_taken = 1;
  last_reply_ = std::move(reply);
  control_->sole_reply = sole ? 1 : 0;
  control_->reply_offset = last_reply_.offset();
  control_->reply_size = last_reply_.size();
  const bool wants_replied = control_->wants_replied != 0;
  control_->turn.Pass(nereid_ipc::Turn::kWorker, nereid_ipc::Turn::kServer);
  if (wants_replied) Push({.kind = static_cast<uint32_t>(EntryKind::kReplied)});
}

uint32_t Transport::Post(OutMessage message) {
  Reclaim();
  while (!posts_.empty() && posted_bytes_ + message.block_size() > kMostPosted) {
    WaitForReader(control_->ring.read.load(std::memory_order_acquire));
    Reclaim();
  }
  const Entry entry = {.kind = static_cast<uint32_t>(EntryKind::kPost),
                       .offset = message.offset(),
                       .size = message.size()};
  Push(entry);
  // Push returns with the GIL held, so no other thread has written an entry since.
  posted_bytes_ += message.block_size();
  const uint32_t written = control_->ring.written.load(std::memory_order_relaxed);
  posts_.emplace_back(written, std::move(message));
  return written;
}

void Transport::AwaitRead(uint32_t entries) {
  const Ring& ring = control_->ring;
  for (uint32_t read = ring.read.load(std::memory_order_acquire); !Reached(read, entries);
       read = ring.read.load(std::memory_order_acquire)) {
    WaitForReader(read);
  }
}

bool Transport::HasCredit(uint64_t request) const {
  const WithoutCredit& table = control_->without_credit;
  const uint32_t used = std::min(table.used.load(std::memory_order_acquire), table.kMost);
  for (uint32_t place = 0; place < used; ++place) {
    if (table.requests[place].load(std::memory_order_acquire) == request) return false;
  }
  return true;
}

void Transport::AwaitCreditReturn(uint32_t seen) {
  const WithoutGil released;
  nereid_ipc::FutexWait(&control_->without_credit.returns, seen, kLookAgainNs);
}

void Transport::Settle(uint64_t limit_ns) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit_ns);
  const Ring& ring = control_->ring;
  const uint32_t goal = ring.written.load(std::memory_order_relaxed);
  uint32_t read = ring.read.load(std::memory_order_acquire);
  while (!Reached(read, goal) && std::chrono::steady_clock::now() < deadline) {
    WaitForReader(read);
    read = ring.read.load(std::memory_order_acquire);
  }
}

void Transport::Ask(const OutMessage& message, uint32_t* slot) {
  *slot = TakeSlot();
  Slot& answer = control_->slots[*slot];
  answer.state.store(Slot::kAsked, std::memory_order_relaxed);
  Push({.kind = static_cast<uint32_t>(EntryKind::kCall),
        .slot = *slot,
        .offset = message.offset(),
        .size = message.size()});
  const WithoutGil released;
  // The time of a call depends on its kind and the called model. A thread tends to repeat its
  // calls, so each thread has its own spinner.
  thread_local nereid_ipc::Spinner spinner;
  const auto answered = [&answer] {
    return answer.state.load(std::memory_order_acquire) == Slot::kAnswered;
  };
  spinner.Wait(answered, [&answer] { nereid_ipc::FutexWait(&answer.state, Slot::kAsked); });
}

void Transport::FreeSlot(uint32_t index) {
  control_->slots[index].state.store(Slot::kFree, std::memory_order_relaxed);
  free_slots_.push_back(index);
  slots_freed_.fetch_add(1, std::memory_order_release);
  if (slot_waiters_ > 0) nereid_ipc::FutexWakeAll(&slots_freed_);
}

void Transport::Reclaim() {
  const uint32_t read = control_->ring.read.load(std::memory_order_acquire);
  while (!posts_.empty() && Reached(read, posts_.front().first)) {
    // Destroying the message may run Python code that calls this function again, so it is removed
    // from the queue first.
    const OutMessage done = std::move(posts_.front().second);
    posts_.pop_front();
    posted_bytes_ -= done.block_size();
  }
  FreeHeld();
  if (!frees_.empty()) PushFrees();
}

void Transport::GiveBack(uint64_t block, uint64_t size) {
  if (InForkedChild()) return;  // the parent process gives it back
  frees_.push_back(block);
  quiet_bytes_ += size;
  PushFrees();
}

void Transport::PushFrees() {
  while (!frees_.empty() && !RingIsFull()) {
    Write({.kind = static_cast<uint32_t>(EntryKind::kFree), .offset = frees_.back()});
    frees_.pop_back();
    ++quiet_frees_;
  }
  if (quiet_bytes_ > kMostQuietBytes || quiet_frees_ > kMostQuietFrees) RingDoorbell();
}

bool Transport::RingIsFull() const {
  const Ring& ring = control_->ring;
  return ring.written.load(std::memory_order_relaxed) - ring.read.load(std::memory_order_acquire) >=
         Ring::kEntries;
}

void Transport::Write(const Entry& entry) {
  Ring& ring = control_->ring;
  const uint32_t written = ring.written.load(std::memory_order_relaxed);
  ring.entries[written % Ring::kEntries] = entry;
  ring.written.store(written + 1, std::memory_order_seq_cst);
}

void Transport::RingDoorbell() {
  quiet_bytes_ = 0;
  quiet_frees_ = 0;
  if (control_->ring.sleeping.exchange(0, std::memory_order_seq_cst) == 0) return;
  const uint64_t one = 1;
  // Fails only if the server has gone, and then this process ends too.
  [[maybe_unused]] const ssize_t rung = write(kDoorbellFd, &one, sizeof(one));
}

void Transport::Push(const Entry& entry) {
  while (RingIsFull()) WaitForReader(control_->ring.written.load() - Ring::kEntries);
  Write(entry);
  RingDoorbell();
}

uint32_t Transport::TakeSlot() {
  while (free_slots_.empty()) {
    const uint32_t seen = slots_freed_.load(std::memory_order_acquire);
    ++slot_waiters_;
    {
      const WithoutGil released;
      nereid_ipc::FutexWait(&slots_freed_, seen);
    }
    --slot_waiters_;
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Transport::WaitForReader(uint32_t read) {
  RingDoorbell();
  Ring& ring = control_->ring;
  const WithoutGil released;
  ring.writer_sleeps.store(1, std::memory_order_seq_cst);
  if (ring.read.load(std::memory_order_seq_cst) != read) return;
  nereid_ipc::FutexWait(&ring.read, read, kLookAgainNs);
}

}  // namespace nereid_python::worker
