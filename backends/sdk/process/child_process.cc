#include "backends/tensorflow/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nereid_backend {
namespace {

using nereid_tensorflow::UniqueFd;

// What posix_spawn does in the child, in this order. The numbers that it gives out are free then:
// all other descriptors are above them.
constexpr int kFirstFreeFd = 10;
constexpr int kControlFd = 3;

Error SystemError(const std::string& what, int error) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(what, ": ", std::strerror(error)));
}

// A copy of `fd` that is out of the way of the child's own.
Result<UniqueFd> MoveUp(UniqueFd fd) {
  UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
  if (!moved.valid()) return SystemError("failed to duplicate a descriptor", errno);
  return moved;
}

class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // An error number, or 0.
  int Set(int socket, int output) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    const int results[] = {
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP),
        posix_spawnattr_setsigmask(&attributes_, &none),
        posix_spawnattr_setsigdefault(&attributes_, &all),
        posix_spawnattr_setpgroup(&attributes_, 0),
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0),
        posix_spawn_file_actions_adddup2(&actions_, output, 1),
        posix_spawn_file_actions_adddup2(&actions_, output, 2),
        posix_spawn_file_actions_adddup2(&actions_, socket, kControlFd),
        posix_spawn_file_actions_addclosefrom_np(&actions_, kControlFd + 1)};
    for (const int result : results) {
      if (result != 0) return result;
    }
    return 0;
  }

  int Spawn(const std::string& executable, const std::string& title, pid_t* pid) {
    std::string program = executable;
    std::string name = title;
    std::string parent = std::to_string(getpid());
    char* const arguments[] = {program.data(), parent.data(), name.data(), nullptr};
    return posix_spawn(pid, executable.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      output_(std::move(other.output_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  Kill();
  Reap();
}

Result<ChildProcess> ChildProcess::Start(const std::string& executable, const std::string& title) {
  int sockets[2];
  int pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SystemError("failed to make a socket", errno);
  }
  ChildProcess child;
  child.socket_ = UniqueFd(sockets[0]);
  UniqueFd low_socket(sockets[1]);
  if (pipe2(pipes, O_CLOEXEC) != 0) return SystemError("failed to make a pipe", errno);
  child.output_ = UniqueFd(pipes[0]);
  UniqueFd low_pipe(pipes[1]);
  NB_ASSIGN_OR_RETURN(const UniqueFd socket, MoveUp(std::move(low_socket)));
  NB_ASSIGN_OR_RETURN(const UniqueFd pipe, MoveUp(std::move(low_pipe)));
  SpawnPlan plan;
  int error = plan.Set(socket.get(), pipe.get());
  if (error == 0) error = plan.Spawn(executable, title, &child.pid_);
  if (error == 0) return child;
  child.pid_ = -1;
  return SystemError(StrCat("failed to start '", executable, "'"), error);
}

void ChildProcess::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

std::string ChildProcess::Reap() {
  const pid_t pid = std::exchange(pid_, -1);
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  // Who ignores SIGCHLD, or waits for all children, has taken the status.
  if (reaped != pid) return "ended";
  if (WIFSIGNALED(status)) {
    return StrCat("ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  }
  return StrCat("exited with status ", WEXITSTATUS(status));
}

}  // namespace nereid_backend
