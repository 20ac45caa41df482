// SPDX-License-Identifier: Apache-2.0
#include "backends/python/transport.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "backends/python/ipc/file_message.h"
#include "backends/sdk/ipc/futex.h"
#include "backends/sdk/ipc/memory_file.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

using nereid_ipc::Mapping;
using nereid_ipc::Turn;
using nereid_ipc::UniqueFd;
using nereid_python::Command;
using nereid_python::Control;
using nereid_python::Entry;
using nereid_python::Held;
using nereid_python::Slot;
using nereid_python::Tensor;
using nereid_python::ValueWriter;

constexpr uint64_t kFirstPages = 4096;
// A file with more memory than this gives some back when it is not needed any more.
constexpr uint64_t kLarge = uint64_t{1} << 20;
// After a command in which mapping the inputs was not worthwhile, so many get copies. A model that
// writes to its inputs will do so again.
constexpr uint32_t kCopiedCommands = 1000;

Error NoMemory(const char* what) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("failed to ", what, " the memory shared with the process of a Python model: ",
                      std::strerror(errno)));
}

Error Damaged() { return Error::Internal("an answer of the process of a Python model is damaged"); }

Error HasEnded() {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE, "the process of a Python model has ended");
}

}  // namespace

class Transport::Hold {
 public:
  explicit Hold(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  ~Hold() {
    if (number_ >= 0) transport_->EndHold(number_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  // False if there is no number left.
  bool Begin() {
    number_ = transport_->TakeHold();
    return number_ >= 0;
  }

 private:
  const std::shared_ptr<Transport> transport_;
  int number_ = -1;
};

Result<std::shared_ptr<Transport>> Transport::Create() {
  const std::shared_ptr<Transport> made(new Transport);
  made->control_fd_ =
      nereid_ipc::CreateMemoryFile("nereid-python-control", nereid_python::kControlFileSize);
  made->in_fd_ = nereid_ipc::CreateMemoryFile("nereid-python-in", kFirstPages);
  made->out_fd_ = nereid_ipc::CreateMemoryFile("nereid-python-out", kFirstPages);
  if (!made->control_fd_.valid() || !made->in_fd_.valid() || !made->out_fd_.valid()) {
    return NoMemory("create");
  }
  made->doorbell_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->doorbell_.valid()) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, "no further descriptor can be had");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, "no further socket can be had");
  }
  made->files_server_ = UniqueFd(ends[0]);
  made->files_process_ = UniqueFd(ends[1]);
  made->control_mapping_ =
      Mapping::Map(made->control_fd_.get(), 0, nereid_python::kControlFileSize);
  made->in_ = Mapping::Map(made->in_fd_.get(), 0, nereid_python::kMaxData);
  made->out_ = Mapping::Map(made->out_fd_.get(), 0, nereid_python::kMaxData);
  if (made->control_mapping_ == nullptr || made->in_ == nullptr || made->out_ == nullptr) {
    return NoMemory("map");
  }
  new (made->control_mapping_->data()) Control;
  made->blocks_ =
      std::make_unique<nereid_python::BlockAllocator>(made->in_fd_.get(), nereid_python::kMaxData);
  return made;
}

void Transport::Ring() const {
  const uint64_t one = 1;
  // Fails only if the doorbell was rung very often without being read.
  if (write(doorbell_.get(), &one, sizeof(one)) < 0) NB_LOG_VERBOSE("a doorbell is full");
}

Result<Transport::Block> Transport::Allocate(uint64_t size) {
  std::optional<uint64_t> offset;
  uint64_t paged = 0;
  {
    const std::lock_guard lock(mu_);
    offset = blocks_->Allocate(size);
    paged = blocks_->paged();
  }
  if (!offset.has_value()) {
    if (size > nereid_python::kMaxData) errno = ENOMEM;
    return NoMemory("enlarge");
  }
  if (paged > kLarge) BecomeLarge();
  return Block{*offset, in_->data() + *offset};
}

void Transport::Free(uint64_t offset) {
  bool known = false;
  uint64_t paged = 0;
  {
    const std::lock_guard lock(mu_);
    known = blocks_->Free(offset);
    paged = blocks_->paged();
  }
  if (paged > kLarge) BecomeLarge();
  if (!known) NB_LOG_VERBOSE("the process of a Python model gives back what it does not have");
}

void Transport::BecomeLarge() const {
  if (!large() && !large_.exchange(true)) Ring();
}

// Without a reply that anybody waits for: the next command waits until the process has done it.
void Transport::Trim() {
  {
    const CommandTurn command(this, 1);
    if (!command.held() || control()->turn.now() != Turn::kServer) return;
    ValueWriter none;
    none.None();
    // If the process cannot be told now, it is next time.
    if (Put(Command::kTrim, none, false).ok()) static_cast<void>(PassTurn().ok());
  }
  uint64_t in = 0;
  {
    const std::lock_guard lock(mu_);
    blocks_->Trim();
    in = blocks_->paged();
  }
  struct stat file {};
  const bool known = fstat(out_fd_.get(), &file) == 0;
  const uint64_t out = known ? static_cast<uint64_t>(file.st_blocks) * 512 : 0;
  // What two calls in a row have left is in use. Whoever frees it says so.
  const uint64_t left = in + out;
  const bool over = (in <= kLarge && out <= kLarge) || left == left_;
  left_ = over ? 0 : left;
  if (over) large_.store(false);
}

// If the process has enlarged the file, its size is read once per new size.
Result<std::string_view> Transport::OutBytes(uint64_t offset, uint64_t size) const {
  if (offset > nereid_python::kMaxData || size > nereid_python::kMaxData - offset) return Damaged();
  if (offset + size > kLarge) BecomeLarge();
  if (offset + size > out_size_.load(std::memory_order_relaxed)) {
    struct stat file {};
    if (fstat(out_fd_.get(), &file) != 0) return NoMemory("read the size of");
    out_size_.store(static_cast<uint64_t>(file.st_size), std::memory_order_relaxed);
    if (offset + size > static_cast<uint64_t>(file.st_size)) return Damaged();
  }
  return std::string_view(out_->data() + offset, size);
}

Result<std::string_view> Transport::BytesOf(const Tensor& tensor) const {
  if (tensor.size == 0) return std::string_view("", 0);
  if (tensor.file == Tensor::kOut) return OutBytes(tensor.offset, tensor.size);
  if (tensor.file != Tensor::kIn) return Damaged();
  const std::lock_guard lock(mu_);
  const uint64_t room = blocks_->SizeOf(tensor.block);
  if (tensor.offset < tensor.block || tensor.offset - tensor.block > room ||
      tensor.size > room - (tensor.offset - tensor.block)) {
    return Damaged();
  }
  return std::string_view(in_->data() + tensor.offset, tensor.size);
}

bool Transport::TakeMapsInputs() {
  Control* const shared = control();
  if (shared->inputs_taken == 1) copied_commands_ = kCopiedCommands;
  shared->inputs_taken = 0;
  if (copied_commands_ > 0) {
    --copied_commands_;
    return false;
  }
  return shared->maps_inputs.load(std::memory_order_relaxed) == 1;
}

std::optional<uint64_t> Transport::SendFile(int file) {
  const uint64_t number = files_sent_ + 1;
  if (!nereid_python::SendFile(files_server_.get(), number, file)) return std::nullopt;
  files_sent_ = number;
  return number;
}

Error Transport::Put(Command command, const ValueWriter& message, bool wants_replied) {
  const std::string& bytes = message.bytes();
  if (has_message_block_) Free(message_block_);
  has_message_block_ = false;
  NB_ASSIGN_OR_RETURN(const Block block, Allocate(bytes.size()));
  has_message_block_ = true;
  message_block_ = block.offset;
  std::memcpy(block.data, bytes.data(), bytes.size());
  TellHold();
  Control* const shared = control();
  shared->command = static_cast<uint32_t>(command);
  shared->message_offset = block.offset;
  shared->message_size = bytes.size();
  shared->wants_replied = wants_replied ? 1 : 0;
  shared->compute_start_ns = shared->compute_end_ns = 0;
  uint32_t levels = 0;
  for (uint32_t level = TRITONSERVER_LOG_INFO; level <= TRITONSERVER_LOG_VERBOSE; ++level) {
    if (TRITONSERVER_LogIsEnabled(static_cast<TRITONSERVER_LogLevel>(level))) levels |= 1u << level;
  }
  shared->log_levels.store(levels, std::memory_order_relaxed);
  return Error();
}

Error Transport::PassTurn() {
  return control()->turn.Pass(Turn::kServer, Turn::kWorker) ? Error() : HasEnded();
}

Error Transport::Begin(Command command, const ValueWriter& message) {
  NB_RETURN_IF_ERROR(Put(command, message, true));
  return PassTurn();
}

Result<std::string_view> Transport::Reply() const {
  return OutBytes(control()->reply_offset, control()->reply_size);
}

std::shared_ptr<const void> Transport::HoldReply(const std::shared_ptr<Transport>& transport) {
  const auto hold = std::make_shared<Hold>(transport);
  return hold->Begin() ? hold : nullptr;
}

int Transport::TakeHold() {
  const std::lock_guard lock(mu_);
  for (size_t i = 0; i < told_.size(); ++i) {
    // The process may not have freed the reply that had this number before.
    const auto held = static_cast<Held>(control()->held[i].load(std::memory_order_acquire));
    if (told_[i] || held != Held::kNot) continue;
    untold_ = static_cast<int>(i);
    return untold_;
  }
  return -1;
}

// The process frees the reply with the next command. If none comes, Trim is one.
void Transport::EndHold(int number) {
  {
    const std::lock_guard lock(mu_);
    if (untold_ == number) {
      untold_ = -1;
    } else {
      told_[number] = false;
      control()->held[number].store(static_cast<uint32_t>(Held::kOver), std::memory_order_release);
    }
  }
  BecomeLarge();
}

void Transport::TellHold() {
  const std::lock_guard lock(mu_);
  control()->keep_reply = static_cast<uint32_t>(untold_ + 1);
  if (untold_ < 0) return;
  told_[untold_] = true;
  control()->held[untold_].store(static_cast<uint32_t>(Held::kHeld), std::memory_order_relaxed);
  untold_ = -1;
}

bool Transport::TakeTurn(uint64_t nanoseconds) {
  std::unique_lock lock(mu_);
  const auto free = [&] { return !command_busy_; };
  if (nanoseconds == 0) {
    command_over_.wait(lock, free);
  } else if (!command_over_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), free)) {
    return false;
  }
  command_busy_ = true;
  return true;
}

void Transport::GiveTurn() {
  const std::lock_guard lock(mu_);
  command_busy_ = false;
  command_over_.notify_one();
}

Error Transport::AwaitTurn(uint64_t nanoseconds) {
  const Turn& turn = control()->turn;
  const Turn::Owner owner = nanoseconds > 0 ? turn.WaitWhileFor(Turn::kWorker, nanoseconds)
                                            : turn.WaitWhile(Turn::kWorker, &spinner_);
  if (owner == Turn::kServer) return Error();
  if (owner == Turn::kClosed) return HasEnded();
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("the process of a Python model has not answered within ",
                      nanoseconds / 1'000'000'000, " s"));
}

// The process may still be busy with a command whose reply timed out.
Result<std::string_view> Transport::Run(Command command, const ValueWriter& message,
                                        uint64_t nanoseconds) {
  if (control()->turn.now() == Turn::kWorker) NB_RETURN_IF_ERROR(AwaitTurn(nanoseconds));
  NB_RETURN_IF_ERROR(Put(command, message, false));
  NB_RETURN_IF_ERROR(PassTurn());
  NB_RETURN_IF_ERROR(AwaitTurn(nanoseconds));
  return Reply();
}

Error Transport::BeginEach(const ValueWriter& message, uint32_t count) {
  if (control()->turn.now() == Turn::kWorker) NB_RETURN_IF_ERROR(AwaitTurn(0));
  NB_RETURN_IF_ERROR(Put(Command::kExecuteEach, message, false));
  control()->part_count = count;
  control()->parts_replied.store(0, std::memory_order_relaxed);
  return PassTurn();
}

// A process that cannot read the command answers it as a whole.
Result<Transport::PartReply> Transport::AwaitPart(uint32_t part) {
  const Turn& turn = control()->turn;
  const auto replied = [&] {
    return control()->parts_replied.load(std::memory_order_acquire) > part;
  };
  turn.WaitFor([&] { return turn.now() != Turn::kWorker || replied(); }, &spinner_);
  PartReply reply;
  if (replied()) {
    const nereid_python::Part shared = control()->parts[part];
    NB_ASSIGN_OR_RETURN(reply.message, OutBytes(shared.reply_offset, shared.reply_size));
    reply.compute_start = shared.compute_start_ns;
    reply.compute_end = shared.compute_end_ns;
  } else if (turn.now() == Turn::kClosed) {
    return HasEnded();
  } else {
    NB_ASSIGN_OR_RETURN(reply.message, Reply());
  }
  return reply;
}

bool Transport::NextEntry(Entry* entry) {
  nereid_python::Ring& ring = control()->ring;
  const uint32_t read = ring.read.load(std::memory_order_relaxed);
  if (read == ring.written.load(std::memory_order_acquire)) return false;
  *entry = ring.entries[read % nereid_python::Ring::kEntries];
  return true;
}

void Transport::EndEntry() {
  nereid_python::Ring& ring = control()->ring;
  ring.read.fetch_add(1, std::memory_order_release);
  if (ring.writer_sleeps.exchange(0) != 0) nereid_ipc::FutexWakeAll(&ring.read);
}

Result<std::string_view> Transport::MessageOf(const Entry& entry) const {
  return OutBytes(entry.offset, entry.size);
}

bool Transport::Sleep() {
  nereid_python::Ring& ring = control()->ring;
  ring.sleeping.store(1);
  if (ring.read.load() == ring.written.load()) return true;
  ring.sleeping.store(0);
  return false;
}

void Transport::ClearDoorbell() {
  uint64_t rung = 0;
  if (read(doorbell_.get(), &rung, sizeof(rung)) < 0) return;  // nobody has rung
}

bool Transport::WithdrawCredit(uint64_t request) {
  nereid_python::WithoutCredit& table = control()->without_credit;
  const std::lock_guard lock(mu_);
  uint32_t place = 0;
  // The process could write nonsense here, which only harms its own requests.
  const uint32_t used = std::min(table.used.load(std::memory_order_relaxed), table.kMost);
  while (place < used && table.requests[place].load(std::memory_order_relaxed) != 0) ++place;
  if (place == table.kMost) return false;
  table.requests[place].store(request, std::memory_order_release);
  if (place == used) table.used.store(used + 1, std::memory_order_release);
  return true;
}

void Transport::ReturnCredit(uint64_t request) {
  nereid_python::WithoutCredit& table = control()->without_credit;
  {
    const std::lock_guard lock(mu_);
    const uint32_t used = std::min(table.used.load(std::memory_order_relaxed), table.kMost);
    for (uint32_t place = 0; place < used; ++place) {
      uint64_t number = request;
      if (table.requests[place].compare_exchange_strong(number, 0)) break;
    }
  }
  table.returns.fetch_add(1, std::memory_order_acq_rel);
  nereid_ipc::FutexWakeAll(&table.returns);
}

// A slot that does not wait is left alone, because its content is invalid.
void Transport::Answer(uint32_t slot, const ValueWriter& message) {
  if (slot >= Control::kSlots) return;
  Slot& waiting = control()->slots[slot];
  if (waiting.state.load(std::memory_order_acquire) != Slot::kAsked) return;
  const std::string& bytes = message.bytes();
  waiting.inline_size = 0;
  waiting.size = 0;
  if (bytes.size() <= Slot::kInlineSize) {
    std::memcpy(waiting.inline_bytes, bytes.data(), bytes.size());
    waiting.inline_size = static_cast<uint32_t>(bytes.size());
  } else if (const Result<Block> block = Allocate(bytes.size()); block.ok()) {
    std::memcpy(block->data, bytes.data(), bytes.size());
    waiting.block = waiting.offset = block->offset;
    waiting.size = bytes.size();
  }
  // If no memory is left, the answer has no bytes, which the process treats as an error.
  waiting.state.store(Slot::kAnswered, std::memory_order_release);
  nereid_ipc::FutexWakeAll(&waiting.state);
}

void Transport::Close() { control()->turn.Close(); }

}  // namespace nereid_backend
