// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace nereid_backend {
namespace {

using nereid_ipc::UniqueFd;

// The child's first descriptor that is not one of the standard three.
constexpr int kFirstFd = 3;

Error SystemError(const std::string& what, int error) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(what, ": ", std::strerror(error)));
}

// A copy of `fd` with a number above those that the child's descriptors get. posix_spawn duplicates
// the descriptors one after the other, so it could overwrite one that is still needed.
Result<UniqueFd> MoveUp(int fd, int first_free) {
  UniqueFd moved(fcntl(fd, F_DUPFD_CLOEXEC, first_free));
  if (!moved.valid()) return SystemError("failed to duplicate a descriptor", errno);
  return moved;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The server may have raised its soft limit of open files. Programs that call select() rely on
// small numbers, and others walk through all numbers below the limit, so the child gets back what
// the server was started with. It may raise it again.
void RestoreFileLimit(pid_t pid) {
  const char* const soft = std::getenv("NEREID_SOFT_FILE_LIMIT");
  struct rlimit limit = {};
  if (soft == nullptr || prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0) return;
  const rlim_t wanted = std::strtoull(soft, nullptr, 10);
  if (wanted == 0 || wanted >= limit.rlim_cur) return;
  limit.rlim_cur = wanted;
  prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
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

  // Returns an error number, or 0.
  int Set(int output, const std::vector<UniqueFd>& descriptors) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    std::vector<int> results = {
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP),
        posix_spawnattr_setsigmask(&attributes_, &none),
        posix_spawnattr_setsigdefault(&attributes_, &all),
        posix_spawnattr_setpgroup(&attributes_, 0),
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0),
        posix_spawn_file_actions_adddup2(&actions_, output, 1),
        posix_spawn_file_actions_adddup2(&actions_, output, 2)};
    int next = kFirstFd;
    for (const UniqueFd& fd : descriptors) {
      results.push_back(posix_spawn_file_actions_adddup2(&actions_, fd.get(), next++));
    }
    results.push_back(posix_spawn_file_actions_addclosefrom_np(&actions_, next));
    for (const int result : results) {
      if (result != 0) return result;
    }
    return 0;
  }

  int Spawn(const ChildProcess::Spec& spec, pid_t* pid) {
    std::vector<std::string> arguments = {spec.executable};
    arguments.insert(arguments.end(), spec.arguments.begin(), spec.arguments.end());
    std::vector<std::string> environment = spec.environment;
    return posix_spawn(pid, spec.executable.c_str(), &actions_, &attributes_,
                       Pointers(&arguments).data(),
                       environment.empty() ? environ : Pointers(&environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::move(other.output_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  Kill();
  Reap();
}

Result<ChildProcess> ChildProcess::Start(const Spec& spec) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return SystemError("failed to make a pipe", errno);
  ChildProcess child;
  child.output_ = UniqueFd(pipes[0]);
  const UniqueFd low_pipe(pipes[1]);
  const int first_free = kFirstFd + static_cast<int>(spec.descriptors.size());
  NB_ASSIGN_OR_RETURN(const UniqueFd pipe, MoveUp(low_pipe.get(), first_free));
  std::vector<UniqueFd> descriptors;
  for (const int fd : spec.descriptors) {
    NB_ASSIGN_OR_RETURN(UniqueFd moved, MoveUp(fd, first_free));
    descriptors.push_back(std::move(moved));
  }
  SpawnPlan plan;
  int error = plan.Set(pipe.get(), descriptors);
  if (error == 0) error = plan.Spawn(spec, &child.pid_);
  if (error == 0) {
    RestoreFileLimit(child.pid_);
    return child;
  }
  child.pid_ = -1;
  return SystemError(StrCat("failed to start '", spec.executable, "'"), error);
}

ChildProcess ChildProcess::Adopt(pid_t pid, UniqueFd output) {
  ChildProcess child;
  child.pid_ = pid;
  child.output_ = std::move(output);
  return child;
}

void ChildProcess::Kill() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
}

std::string ChildProcess::Reap() {
  const pid_t pid = std::exchange(pid_, -1);
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  // If this program ignores SIGCHLD or waits for all children, the status is lost.
  if (reaped != pid) return "ended";
  if (WIFSIGNALED(status)) {
    end_signal_ = WTERMSIG(status);
    return StrCat("ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  }
  return StrCat("exited with status ", WEXITSTATUS(status));
}

}  // namespace nereid_backend
