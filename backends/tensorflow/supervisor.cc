// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/supervisor.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"
#include "backends/tensorflow/channel.h"
#include "backends/tensorflow/status_error.h"

namespace nereid_backend {
namespace {

using nereid_ipc::UniqueFd;
using nereid_tensorflow::ChannelMemory;
using nereid_tensorflow::ControlSocket;
using nereid_tensorflow::LoadReply;
using nereid_tensorflow::MessageKind;
using nereid_tensorflow::Packer;
using nereid_tensorflow::Status;

std::string ChannelMessage(MessageKind kind, uint64_t id) {
  Packer packer;
  packer.Number(kind);
  packer.Number(id);
  return packer.bytes();
}

}  // namespace

Supervisor::Supervisor(Spec spec)
    : ProcessKeeper(StrCat("the TensorFlow process of model '", spec.model, "'")),
      spec_(std::move(spec)) {}

Result<std::unique_ptr<Supervisor>> Supervisor::Start(Spec spec) {
  std::unique_ptr<Supervisor> supervisor(new Supervisor(std::move(spec)));
  NB_RETURN_IF_ERROR(supervisor->Begin());
  NB_RETURN_IF_ERROR(supervisor->AwaitFirst());
  return supervisor;
}

Supervisor::~Supervisor() { Stop(); }

Result<ChildProcess> Supervisor::StartChild() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("failed to make a socket: ", std::strerror(errno)));
  }
  UniqueFd ours(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  ChildProcess::Spec child;
  child.executable = spec_.executable;
  // The model's name is only for people who read process lists.
  child.arguments = {std::to_string(getpid()), spec_.model};
  child.descriptors = {theirs.get()};
  Result<ChildProcess> started = ChildProcess::Start(child);
  if (!started.ok()) return started;
  log_ = std::make_unique<WorkerLog>(spec_.model);
  const auto worker = std::make_shared<Worker>(std::move(ours));
  {
    const std::lock_guard lock(mu_);
    worker_ = worker;
    answer_.reset();
    load_deadline_ = NowNs() + spec_.load_limit_ns;
  }
  Packer message;
  message.Number(MessageKind::kLoad);
  // If this fails, the worker has ended; shutting the socket down makes the keeper notice that.
  if (!worker->socket.Send(message.bytes() + spec_.load.Pack()))
    shutdown(worker->socket.fd(), SHUT_RDWR);
  return started;
}

bool Supervisor::OnReadable() {
  if (!worker_->socket.Receive(false)) return false;
  while (std::optional<ControlSocket::Message> message = worker_->socket.Next()) {
    if (!TakeMessage(std::move(message->bytes))) return false;
  }
  return true;
}

int Supervisor::timeout_ms() {
  const std::lock_guard lock(mu_);
  if (load_deadline_ == 0) return -1;
  const uint64_t now = NowNs();
  return now < load_deadline_ ? static_cast<int>((load_deadline_ - now) / 1'000'000) + 1 : 0;
}

bool Supervisor::OnTimeout() {
  const std::lock_guard lock(mu_);
  if (load_deadline_ == 0 || NowNs() < load_deadline_) return true;
  RefuseStart(
      Error(TRITONSERVER_ERROR_UNAVAILABLE,
            StrCat("the TensorFlow process of model '", spec_.model, "' has not loaded it within ",
                   spec_.load_limit_ns / BackOff::kSecond,
                   " s; --backend-config=tensorflow,load-timeout-seconds=<n> gives it more time")));
  return false;
}

void Supervisor::OnEnding() { shutdown(worker_->socket.fd(), SHUT_RDWR); }

std::string Supervisor::Explain(std::string how) {
  return log_->fatal().empty() ? how : StrCat(how, ": ", log_->fatal());
}

bool Supervisor::TakeMessage(std::string bytes) {
  std::unique_lock lock(mu_);
  if (state_ == State::kStarting) return TakeLoadReply(bytes);
  if (!call_busy_ || answer_.has_value()) return false;
  answer_ = std::move(bytes);
  changed_.notify_all();
  return true;
}

// REQUIRES: mu_ is held.
bool Supervisor::TakeLoadReply(const std::string& bytes) {
  load_deadline_ = 0;
  LoadReply reply;
  if (!LoadReply::Unpack(bytes, &reply)) return false;
  if (!reply.status.ok()) {
    RefuseStart(ToError(reply.status));
    return false;
  }
  if (!ever_ready_) {
    loaded_ = std::move(reply);
  } else if (reply.inputs != loaded_.inputs || reply.outputs != loaded_.outputs) {
    SetEnd("could not load the model: its files have been replaced by others");
    return false;
  }
  BecomeReady();
  return true;
}

void Supervisor::OnEnded(const std::string& how) {
  {
    const std::lock_guard lock(mu_);
    worker_->end = how;
    worker_->ended = true;
    worker_->telling = true;
    load_deadline_ = 0;
  }
  // Meanwhile the channels stay as they are; their runs fail only afterwards.
  for (const auto& [id, channel] : worker_->channels) channel.on_end();
  const std::lock_guard lock(mu_);
  worker_->telling = false;
  for (const auto& [id, channel] : worker_->channels) {
    reinterpret_cast<nereid_tensorflow::ChannelHeader*>(channel.header->data())->turn.Close();
  }
  changed_.notify_all();
}

Error Supervisor::EndOf(const Worker& worker) {
  const std::lock_guard lock(mu_);
  return EndedError(worker.end);
}

Error Supervisor::Call(Worker* worker, std::string_view message, int fd) {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return worker->ended || !call_busy_; });
  if (worker->ended) return EndedError(worker->end);
  call_busy_ = true;
  answer_.reset();
  lock.unlock();
  // If sending fails, the worker is about to end; the code below waits for that.
  const bool sent = worker->socket.Send(message, fd);
  lock.lock();
  changed_.wait(lock, [&] { return worker->ended || (sent && answer_.has_value()); });
  call_busy_ = false;
  changed_.notify_all();
  if (worker->ended) return EndedError(worker->end);
  Status status;
  if (UnpackStatus(*answer_, &status)) return ToError(status);
  return Error::Internal("an answer of the TensorFlow process is damaged");
}

Result<std::unique_ptr<Channel>> Supervisor::OpenChannel(std::function<void()> on_end) {
  std::shared_ptr<Worker> worker;
  uint64_t id = 0;
  {
    std::unique_lock lock(mu_);
    changed_.wait(lock, [&] { return state_ != State::kStarting; });
    if (state_ != State::kReady) return WaitingError();
    worker = worker_;
    id = next_channel_++;
  }
  std::unique_ptr<ChannelMemory> memory;
  NB_RETURN_IF_ERROR(ToError(ChannelMemory::Create(&memory)));
  const int fd = memory->fd();
  const std::shared_ptr<nereid_ipc::Mapping> header = memory->header_mapping();
  // From here on, the channel's destructor closes it.
  auto channel = std::make_unique<Channel>(this, worker, id, std::move(memory));
  {
    const std::lock_guard lock(mu_);
    if (worker->ended) return EndedError(worker->end);
    worker->channels[id] = {header, std::move(on_end)};
  }
  NB_RETURN_IF_ERROR(Call(worker.get(), ChannelMessage(MessageKind::kOpenChannel, id), fd));
  return channel;
}

void Supervisor::CloseChannel(Worker* worker, uint64_t id) {
  {
    std::unique_lock lock(mu_);
    // Afterwards the owner of on_end is gone.
    changed_.wait(lock, [&] { return !worker->telling; });
    worker->channels.erase(id);
    if (worker->ended || stopping_) return;
  }
  const Error closed = Call(worker, ChannelMessage(MessageKind::kCloseChannel, id), -1);
  if (!closed.ok()) NB_LOG_VERBOSE("failed to close a channel: ", closed.message());
}

}  // namespace nereid_backend
