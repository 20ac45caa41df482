// SPDX-License-Identifier: Apache-2.0
#include "filesystem/cloud/cloud_program.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/status_macros.h"

extern char** environ;

namespace nereid {
namespace {

// A descriptor, closed on destruction.
class Socket {
 public:
  explicit Socket(int number) : number_(number) {}
  ~Socket() { Close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int number() const { return number_; }
  void Close() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

absl::Status NoSocket() {
  return absl::UnavailableError(absl::StrCat("failed to make a socket: ", std::strerror(errno)));
}

// Starts `path` with `control`, and nothing else but what is inherited by everybody, in a process
// group of its own: a Ctrl-C in the terminal is for the server. Returns an error number.
int Spawn(const std::string& path, int control, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, control, kCloudControl);
  posix_spawn_file_actions_addclosefrom_np(&actions, kCloudControl + 1);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::string name = path;
  char* const argv[] = {name.data(), nullptr};
  const int error = posix_spawn(pid, path.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

absl::Status StatusOf(const CloudReply& reply) {
  if (reply.error.empty()) return absl::OkStatus();
  return reply.not_found ? absl::NotFoundError(reply.error) : absl::UnavailableError(reply.error);
}

}  // namespace

// The running program. It ends with this object.
class CloudProgram::Process {
 public:
  static absl::StatusOr<std::shared_ptr<Process>> Start(const std::string& path) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return NoSocket();
    Socket theirs(pair[1]);
    auto process = std::make_shared<Process>(pair[0]);
    // A copy with a higher number, as the program's own would keep its close-on-exec flag.
    Socket passed(fcntl(theirs.number(), F_DUPFD_CLOEXEC, kCloudControl + 1));
    if (passed.number() < 0) return NoSocket();
    const int error = Spawn(path, passed.number(), &process->pid_);
    if (error == 0) return process;
    return absl::UnavailableError(absl::StrCat(
        "cannot start the program ", path, ", which reads cloud storage: ", std::strerror(error),
        "; `make stage CLOUD=yes` builds it"));
  }

  explicit Process(int control) : control_(control) {}
  ~Process() {
    control_.Close();
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);  // it keeps nothing
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // DEADLINE_EXCEEDED if it is silent for too long, ABORTED if it has ended.
  absl::StatusOr<CloudReply> Ask(const CloudRequest& request, uint32_t patience_secs) const {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return NoSocket();
    const Socket ours(pair[0]);
    Socket theirs(pair[1]);
    timeval patience{};
    patience.tv_sec = static_cast<time_t>(patience_secs);
    setsockopt(ours.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(ours.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (!SendDescriptor(control_.number(), theirs.number())) return Ended();
    theirs.Close();
    if (!SendCloudFrame(ours.number(), request.Pack())) return Ended();
    std::string bytes;
    while (bytes.empty()) {
      if (ReceiveCloudFrame(ours.number(), &bytes)) continue;
      if (errno != EAGAIN) return Ended();
      return absl::DeadlineExceededError(
          absl::StrCat("the store did not answer within ", patience_secs, " s"));
    }
    std::optional<CloudReply> reply = CloudReply::Unpack(bytes);
    if (!reply.has_value()) return Ended();
    return *std::move(reply);
  }

 private:
  static absl::Status Ended() { return absl::AbortedError("it has ended"); }

  Socket control_;
  pid_t pid_ = -1;
};

absl::StatusOr<std::shared_ptr<CloudProgram::Process>> CloudProgram::Running() {
  MutexLock lock(&mu_);
  if (process_ == nullptr) {
    ASSIGN_OR_RETURN(process_, Process::Start(path_));
  }
  return process_;
}

void CloudProgram::NoteEnd(const std::shared_ptr<Process>& process) {
  {
    MutexLock lock(&mu_);
    if (process_ != process) return;  // somebody else has noticed
    process_.reset();
  }
  LOG_WARNING << "the program that reads cloud storage has ended, and is started again";
}

absl::StatusOr<CloudReply> CloudProgram::Ask(const CloudRequest& request) {
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ASSIGN_OR_RETURN(const std::shared_ptr<Process> process, Running());
    absl::StatusOr<CloudReply> reply = process->Ask(request, patience_secs_);
    if (!absl::IsAborted(reply.status())) return reply;
    NoteEnd(process);
  }
  return absl::UnavailableError(
      absl::StrCat("the program ", path_, ", which reads cloud storage, ends again and again"));
}

absl::StatusOr<std::vector<CloudObject>> CloudProgram::List(const std::string& repository) {
  CloudRequest request;
  request.kind = CloudRequest::Kind::kList;
  request.repository = repository;
  ASSIGN_OR_RETURN(CloudReply reply, Ask(request));
  RETURN_IF_ERROR(StatusOf(reply));
  return std::move(reply.objects);
}

absl::StatusOr<CloudObject> CloudProgram::Stat(const std::string& repository,
                                               const std::string& path) {
  CloudRequest request;
  request.kind = CloudRequest::Kind::kStat;
  request.repository = repository;
  request.object.path = path;
  ASSIGN_OR_RETURN(CloudReply reply, Ask(request));
  RETURN_IF_ERROR(StatusOf(reply));
  if (reply.objects.size() != 1) {
    return absl::UnavailableError("the program that reads cloud storage answered nonsense");
  }
  return std::move(reply.objects.front());
}

absl::Status CloudProgram::Fetch(const std::string& repository, const CloudObject& object,
                                 const std::string& target) {
  CloudRequest request;
  request.kind = CloudRequest::Kind::kFetch;
  request.repository = repository;
  request.object = object;
  request.target = target;
  ASSIGN_OR_RETURN(const CloudReply reply, Ask(request));
  return StatusOf(reply);
}

}  // namespace nereid
