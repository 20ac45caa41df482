#include "backends/tensorflow/supervisor.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>

#include "backends/sdk/batch.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"
#include "backends/tensorflow/channel.h"
#include "backends/tensorflow/status_error.h"

namespace nereid_backend {
namespace {

using nereid_tensorflow::ChannelMemory;
using nereid_tensorflow::ControlSocket;
using nereid_tensorflow::LoadReply;
using nereid_tensorflow::MessageKind;
using nereid_tensorflow::Packer;
using nereid_tensorflow::Status;
using nereid_tensorflow::UniqueFd;

// A worker that is told to end has no more to do than that.
constexpr uint64_t kGrace = 2 * BackOff::kSecond;

std::string ChannelMessage(MessageKind kind, uint64_t id) {
  Packer packer;
  packer.Number(kind);
  packer.Number(id);
  return packer.bytes();
}

}  // namespace

Result<std::unique_ptr<Supervisor>> Supervisor::Start(Spec spec) {
  std::unique_ptr<Supervisor> supervisor(new Supervisor(std::move(spec)));
  supervisor->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  if (!supervisor->stop_.valid()) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, "no further descriptor can be had");
  }
  supervisor->thread_ = std::thread([raw = supervisor.get()] { raw->Loop(); });
  std::unique_lock lock(supervisor->mu_);
  supervisor->changed_.wait(lock, [&] { return supervisor->state_ != State::kStarting; });
  if (supervisor->ever_loaded_) {
    lock.unlock();
    return supervisor;
  }
  Error error = std::move(supervisor->start_error_);
  lock.unlock();
  return error;
}

Supervisor::~Supervisor() {
  {
    const std::lock_guard lock(mu_);
    stopping_ = true;
    changed_.notify_all();
  }
  const uint64_t one = 1;
  if (stop_.valid() && write(stop_.get(), &one, sizeof(one)) < 0) {
    NB_LOG_ERROR("failed to wake the thread that ends a TensorFlow process");
  }
  if (thread_.joinable()) thread_.join();
}

bool Supervisor::stopping() {
  const std::lock_guard lock(mu_);
  return stopping_;
}

void Supervisor::Loop() {
  pthread_setname_np(pthread_self(), "tf-supervisor");
  uint64_t started = 0;
  do {
    started = NowNs();
    try {
      LiveOnce();
    } catch (const std::exception& error) {
      const std::lock_guard lock(mu_);
      last_end_ = error.what();
    }
  } while (PrepareRestart(started));
}

// True when another worker is to be started, now.
bool Supervisor::PrepareRestart(uint64_t started) {
  std::unique_lock lock(mu_);
  if (!ever_loaded_ && start_error_.ok()) {
    start_error_ = Error(TRITONSERVER_ERROR_UNAVAILABLE,
                         StrCat("the TensorFlow process of model '", spec_.model, "' ", last_end_));
  }
  if (stopping_ || !ever_loaded_) {
    state_ = State::kOver;
    changed_.notify_all();
    return false;
  }
  const uint64_t now = NowNs();
  const uint64_t delay = back_off_.DelayAfterFailure(started, now);
  restart_at_ = now + delay;
  state_ = delay > 0 ? State::kWaiting : State::kStarting;
  changed_.notify_all();
  NB_LOG_ERROR("the TensorFlow process of model '", spec_.model, "' ", last_end_,
               "; it is started again in ", delay / BackOff::kSecond, " s");
  changed_.wait_for(lock, std::chrono::nanoseconds(delay), [&] { return stopping_; });
  if (stopping_) return false;
  state_ = State::kStarting;
  return true;
}

void Supervisor::LiveOnce() {
  {
    const std::lock_guard lock(mu_);
    last_end_.clear();
  }
  Result<ChildProcess> child = ChildProcess::Start(spec_.executable, spec_.model);
  if (!child.ok()) {
    const std::lock_guard lock(mu_);
    last_end_ = StrCat("could not be started: ", child.error().message());
    return;
  }
  WorkerLog log(spec_.model);
  const auto worker = std::make_shared<Worker>(child->TakeSocket());
  {
    const std::lock_guard lock(mu_);
    worker_ = worker;
    answer_.reset();
  }
  // Whatever happens here, the process is reaped and those who wait for it hear of it.
  const Error served = Guarded("serving the TensorFlow process", [&] {
    Packer message;
    message.Number(MessageKind::kLoad);
    // A worker that has ended already is seen below.
    if (worker->socket.Send(message.bytes() + spec_.load.Pack())) {
      Listen(*child, worker.get(), &log);
    }
    return Error();
  });
  if (!served.ok()) NB_LOG_ERROR("a TensorFlow process is ended: ", served.message());
  shutdown(worker->socket.fd(), SHUT_RDWR);
  MarkEnded(worker.get(), &*child, &log);
}

bool Supervisor::ReadOutput(const ChildProcess& child, WorkerLog* log) {
  char buffer[4096];
  const ssize_t got = read(child.output(), buffer, sizeof(buffer));
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  log->Add({buffer, static_cast<size_t>(got)});
  return true;
}

void Supervisor::Listen(const ChildProcess& child, Worker* worker, WorkerLog* log) {
  pollfd watched[] = {
      {child.output(), POLLIN, 0}, {worker->socket.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (!stopping()) {
    if (poll(watched, std::size(watched), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (watched[0].revents != 0 && !ReadOutput(child, log)) return;
    if (watched[1].revents == 0) continue;
    if (!worker->socket.Receive(false)) return;
    while (std::optional<ControlSocket::Message> message = worker->socket.Next()) {
      if (!TakeMessage(std::move(message->bytes))) return;
    }
  }
}

std::string Supervisor::AwaitEnd(ChildProcess* child, WorkerLog* log) {
  const uint64_t deadline = NowNs() + kGrace;
  const auto left_ms = [&] {
    const uint64_t now = NowNs();
    return now < deadline ? static_cast<int>((deadline - now) / 1'000'000) + 1 : 0;
  };
  pollfd output{child->output(), POLLIN, 0};
  while (poll(&output, 1, left_ms()) > 0 && ReadOutput(*child, log)) {
  }
  // Without a descriptor for it (an old kernel) it is ended at once: its output has ended.
  const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, child->pid(), 0)));
  pollfd end{process.get(), POLLIN, 0};
  if (process.valid()) poll(&end, 1, left_ms());
  child->Kill();  // which does nothing to one that has ended
  const std::string how = child->Reap();
  return log->fatal().empty() ? how : StrCat(how, ": ", log->fatal());
}

bool Supervisor::TakeMessage(std::string bytes) {
  std::unique_lock lock(mu_);
  if (state_ == State::kStarting) return TakeLoadReply(bytes);
  if (!call_busy_ || answer_.has_value()) return false;
  answer_ = std::move(bytes);
  changed_.notify_all();
  return true;
}

bool Supervisor::TakeLoadReply(const std::string& bytes) {
  LoadReply reply;
  if (!LoadReply::Unpack(bytes, &reply)) return false;
  if (!reply.status.ok()) {
    if (!ever_loaded_) start_error_ = ToError(reply.status);
    last_end_ = StrCat("could not load the model: ", reply.status.message);
    return false;
  }
  if (!ever_loaded_) {
    loaded_ = std::move(reply);
    ever_loaded_ = true;
  } else if (reply.inputs != loaded_.inputs || reply.outputs != loaded_.outputs) {
    last_end_ = "could not load the model: its files have been replaced by others";
    return false;
  }
  state_ = State::kReady;
  changed_.notify_all();
  return true;
}

void Supervisor::MarkEnded(Worker* worker, ChildProcess* child, WorkerLog* log) {
  std::string how = "ended";
  const Error ignored = Guarded("ending the TensorFlow process", [&] {
    how = AwaitEnd(child, log);
    return Error();
  });
  const std::lock_guard lock(mu_);
  worker->ended = true;
  worker->end = std::move(how);
  // What it said of a load that failed tells more than how it ended after that.
  if (last_end_.empty()) last_end_ = worker->end;
  for (const auto& [id, header] : worker->channels) {
    reinterpret_cast<nereid_tensorflow::ChannelHeader*>(header->data())->turn.Close();
  }
  // Whoever comes now waits for what PrepareRestart decides.
  state_ = State::kStarting;
  worker_.reset();
  changed_.notify_all();
}

Error Supervisor::EndedError(const Worker& worker) const {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("the TensorFlow process of model '", spec_.model, "' ", worker.end));
}

Error Supervisor::EndOf(const Worker& worker) {
  const std::lock_guard lock(mu_);
  return EndedError(worker);
}

Error Supervisor::WaitingError() const {
  const uint64_t now = NowNs();
  const uint64_t left = restart_at_ > now ? restart_at_ - now : 0;
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("the TensorFlow process of model '", spec_.model, "' ", last_end_,
                      " and is started again in ", left / BackOff::kSecond + 1, " s"));
}

Error Supervisor::Call(Worker* worker, std::string_view message, int fd) {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return worker->ended || !call_busy_; });
  if (worker->ended) return EndedError(*worker);
  call_busy_ = true;
  answer_.reset();
  lock.unlock();
  // Where it fails the worker is ending, and that is waited for.
  const bool sent = worker->socket.Send(message, fd);
  lock.lock();
  changed_.wait(lock, [&] { return worker->ended || (sent && answer_.has_value()); });
  call_busy_ = false;
  changed_.notify_all();
  if (worker->ended) return EndedError(*worker);
  Status status;
  if (UnpackStatus(*answer_, &status)) return ToError(status);
  return Error::Internal("an answer of the TensorFlow process is damaged");
}

Result<std::unique_ptr<Channel>> Supervisor::OpenChannel() {
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
  const std::shared_ptr<nereid_tensorflow::Mapping> header = memory->header_mapping();
  // From here on the channel closes itself.
  auto channel = std::make_unique<Channel>(this, worker, id, std::move(memory));
  {
    const std::lock_guard lock(mu_);
    if (worker->ended) return EndedError(*worker);
    worker->channels[id] = header;
  }
  NB_RETURN_IF_ERROR(Call(worker.get(), ChannelMessage(MessageKind::kOpenChannel, id), fd));
  return channel;
}

void Supervisor::CloseChannel(Worker* worker, uint64_t id) {
  {
    const std::lock_guard lock(mu_);
    worker->channels.erase(id);
    if (worker->ended || stopping_) return;
  }
  const Error closed = Call(worker, ChannelMessage(MessageKind::kCloseChannel, id), -1);
  if (!closed.ok()) NB_LOG_VERBOSE("failed to close a channel: ", closed.message());
}

Error Supervisor::Ready() {
  const std::lock_guard lock(mu_);
  return state_ == State::kReady || state_ == State::kStarting ? Error() : WaitingError();
}

}  // namespace nereid_backend
