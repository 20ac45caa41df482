// SPDX-License-Identifier: Apache-2.0
#include "backends/python/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "backends/python/environment/launch.h"
#include "backends/python/environment/variables.h"
#include "backends/python/ipc/fork_message.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

using nereid_ipc::UniqueFd;
using nereid_python::kForkDescriptors;

// Importing numpy takes 0.1 s; from a slow network drive, seconds.
constexpr std::chrono::seconds kPrepareLimit{30};
// A fork takes a millisecond.
constexpr int kForkLimitMs = 10'000;
// Longer titles are cut: the message has to fit into the prepared process's buffer.
constexpr size_t kLongestTitle = 255;

struct Pipe {
  UniqueFd reads;
  UniqueFd writes;
};

std::optional<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The title and then an entry for each thread variable, NAME=VALUE, or NAME if it is not set; each
// ends with a 0.
std::string MessageOf(const ForkServer::Instance& instance) {
  std::string message = instance.title.substr(0, kLongestTitle);
  message += '\0';
  const Variables variables(instance.threads);
  for (const char* const name : kThreadVariables) {
    message += name;
    if (const auto value = variables.Get(name); value.has_value()) message += "=" + *value;
    message += '\0';
  }
  return message;
}

bool Send(int socket, std::string* text, const std::array<int, kForkDescriptors>& descriptors) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(descriptors))] = {};
  iovec piece{text->data(), text->size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(descriptors));
  std::memcpy(CMSG_DATA(head), descriptors.data(), sizeof(descriptors));
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(text->size());
}

// The next number in the pipe; 0 at its end.
pid_t ReadNumber(int pipe) {
  pid_t number = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &number, sizeof(number));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(number) ? number : 0;
}

bool Readable(int fd, int limit_ms) {
  pollfd watched{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&watched, 1, limit_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// Waits for the answer to a message. The number of the new process; 0 if there is none.
pid_t AwaitBirth(int answer, int prepared) {
  pid_t born = 0;
  bool hangs = false;
  for (;;) {
    if (!Readable(answer, kForkLimitMs)) {
      if (std::exchange(hangs, true)) return 0;
      // Its keeper ends it, and with it the pipe, unless it forks in the last moment.
      shutdown(prepared, SHUT_RDWR);
      continue;
    }
    const pid_t number = ReadNumber(answer);
    if (number < 0) return -number;
    if (number == 0) break;
    born = number;
  }
  // It was killed before it could say that it is there.
  if (born > 0) waitpid(born, nullptr, 0);
  return 0;
}

}  // namespace

ForkServer::ForkServer(Spec spec)
    : ProcessKeeper(StrCat("the fork server of '", spec.interpreter, "'")),
      spec_(std::move(spec)) {}

ForkServer::~ForkServer() { Stop(); }

Result<ChildProcess> ForkServer::Start(const Instance& instance) {
  if (const auto prepared = Prepared(); prepared != nullptr) {
    if (std::optional<ChildProcess> forked = Fork(prepared->get(), instance); forked.has_value()) {
      return std::move(*forked);
    }
  }
  return StartProgram(instance);
}

void ForkServer::Leave(uint64_t until) {
  {
    const std::lock_guard lock(mu_);
    until_ = until;
  }
  Wake();
}

bool ForkServer::Return(uint64_t now) {
  const std::lock_guard lock(mu_);
  if (end_expected_ || (until_ != 0 && now >= until_)) return false;
  until_ = 0;
  return true;
}

Result<ChildProcess> ForkServer::StartProgram(const Instance& instance) const {
  ChildProcess::Spec child;
  child.executable = spec_.interpreter;
  child.arguments = {spec_.main, std::to_string(getpid()), instance.title};
  child.environment = spec_.environment;
  child.environment.insert(child.environment.end(), instance.threads.begin(),
                           instance.threads.end());
  child.descriptors = instance.descriptors;
  return ChildProcess::Start(child);
}

std::shared_ptr<const UniqueFd> ForkServer::Prepared() {
  std::unique_lock lock(mu_);
  const uint64_t earlier_starts = starts_++;
  if (!spec_.forks || given_up_ || earlier_starts == 0) return nullptr;
  if (earlier_starts == 1) {
    lock.unlock();
    const Error begun = Begin();
    lock.lock();
    if (!begun.ok()) state_ = State::kOver;
    changed_.notify_all();
  }
  if (!changed_.wait_for(lock, kPrepareLimit, [&] { return state_ != State::kStarting; })) {
    given_up_ = true;
  }
  return state_ == State::kReady ? connection_ : nullptr;
}

std::optional<ChildProcess> ForkServer::Fork(int prepared, const Instance& instance) {
  std::optional<Pipe> output = MakePipe();
  std::optional<Pipe> answer = MakePipe();
  if (!output.has_value() || !answer.has_value()) return std::nullopt;
  std::array<int, kForkDescriptors> descriptors{};
  if (instance.descriptors.size() + 2 != descriptors.size()) return std::nullopt;
  descriptors[0] = output->writes.get();
  descriptors[1] = answer->writes.get();
  std::copy(instance.descriptors.begin(), instance.descriptors.end(), descriptors.begin() + 2);
  std::string message = MessageOf(instance);
  if (!Send(prepared, &message, descriptors)) return std::nullopt;
  output->writes.Reset();
  answer->writes.Reset();
  const pid_t pid = AwaitBirth(answer->reads.get(), prepared);
  if (pid == 0) return std::nullopt;
  return ChildProcess::Adopt(pid, std::move(output->reads));
}

Result<ChildProcess> ForkServer::StartChild() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("no further socket can be had: ", std::strerror(errno)));
  }
  const UniqueFd theirs(ends[1]);
  {
    const std::lock_guard lock(mu_);
    connection_ = std::make_shared<const UniqueFd>(ends[0]);
  }
  ChildProcess::Spec child;
  child.executable = spec_.interpreter;
  // The blanks are the place for the titles of forked processes.
  child.arguments = {spec_.main, std::to_string(getpid()), nereid_python::kForkServerArgument,
                     std::string(kLongestTitle, ' ')};
  child.environment = spec_.environment;
  for (const char* const name : kThreadVariables) {
    child.environment.push_back(StrCat(name, "=1"));  // threads would not survive a fork
  }
  child.descriptors = {theirs.get()};
  return ChildProcess::Start(child);
}

bool ForkServer::OnReadable() {
  char ready = 0;
  if (recv(connection_->get(), &ready, sizeof(ready), MSG_DONTWAIT) != sizeof(ready)) return false;
  const std::lock_guard lock(mu_);
  BecomeReady();
  return true;
}

int ForkServer::timeout_ms() {
  const std::lock_guard lock(mu_);
  if (until_ == 0) return -1;
  const uint64_t now = NowNs();
  return now < until_ ? static_cast<int>((until_ - now) / 1'000'000) + 1 : 0;
}

bool ForkServer::OnTimeout() {
  const std::lock_guard lock(mu_);
  if (until_ == 0 || NowNs() < until_) return true;
  end_expected_ = true;  // Return refuses from now on
  return false;
}

void ForkServer::OnOutput(std::string_view text) {
  lines_.Add(text, [this](std::string_view line) { LogLine(line); });
}

void ForkServer::LogLine(std::string_view line) const {
  NB_LOG_INFO("python, fork server of '", spec_.interpreter, "': ", line);
}

std::string ForkServer::Explain(std::string how) {
  lines_.Flush([this](std::string_view line) { LogLine(line); });
  return how;
}

}  // namespace nereid_backend
