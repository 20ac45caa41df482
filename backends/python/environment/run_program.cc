#include "backends/python/environment/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nereid_backend {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestLine = 4096;
constexpr int kFirstFreeFd = 10;

// Runs what follows in its own place, after it has asked the kernel to be ended with the server.
constexpr const char* kStarter =
    "import ctypes,os,sys\n"
    "ctypes.CDLL(None).prctl(1,9,0,0,0)\n"
    "if os.getppid()!=int(sys.argv[1]): sys.exit(1)\n"
    "os.execv(sys.argv[2],sys.argv[2:])\n";

Error SystemError(const std::string& what, int error) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(what, ": ", std::strerror(error)));
}

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// An error number, or 0.
int Spawn(const Program& program, int output, pid_t* pid) {
  std::vector<std::string> arguments = program.arguments;
  if (!program.starter.empty()) {
    arguments = {program.starter, "-I", "-S", "-c", kStarter, std::to_string(getpid())};
    arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  }
  std::vector<std::string> variables = program.variables.list();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  const int error = posix_spawn(pid, arguments[0].c_str(), &actions, &attributes,
                                Pointers(&arguments).data(), Pointers(&variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// Cuts what is read into lines, and keeps the last ones.
class Lines {
 public:
  Lines(const Program& program, ProgramEnd* end) : program_(program), end_(*end) {}

  void Add(const char* data, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      // Progress bars go back to the beginning of their line.
      if (data[i] == '\n' || data[i] == '\r' || line_.size() == kLongestLine) Finish();
      if (data[i] != '\n' && data[i] != '\r') line_ += data[i];
    }
  }
  void Finish() {
    if (line_.empty()) return;
    if (program_.on_line) program_.on_line(line_);
    end_.tail.push_back(std::move(line_));
    if (end_.tail.size() > kTailLines) end_.tail.erase(end_.tail.begin());
    line_.clear();
  }

 private:
  const Program& program_;
  ProgramEnd& end_;
  std::string line_;
};

// Reads what is there. False at the end of the output.
bool ReadSome(int fd, Lines* lines) {
  char buffer[4096];
  while (true) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size > 0) {
      lines->Add(buffer, static_cast<size_t>(size));
    } else if (size == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

// Until the program has ended, or its output has, where the kernel cannot tell the first. False
// when the time is up.
bool ReadUntilEnd(const Program& program, pid_t pid, int output, Lines* lines) {
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const Clock::time_point deadline = Clock::now() + program.limit;
  bool open = true;
  while (true) {
    pollfd waits[2] = {{open ? output : -1, POLLIN, 0}, {process.get(), POLLIN, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    poll(waits, 2, static_cast<int>(std::min<int64_t>(left + 1, INT32_MAX)));
    if (waits[0].revents != 0) open = ReadSome(output, lines);
    if (waits[1].revents != 0) {
      // What it has started in turn may keep the pipe open: not waited for.
      if (open) ReadSome(output, lines);
      return true;
    }
    if (!open && process.get() < 0) return true;
  }
}

void AwaitEnd(pid_t pid) {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

std::string Reap(pid_t pid, bool* ok) {
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  *ok = reaped == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (reaped != pid) return "ended";
  if (WIFSIGNALED(status)) {
    return StrCat("was ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  }
  return StrCat("exited with status ", WEXITSTATUS(status));
}

}  // namespace

Result<ProgramEnd> RunProgram(const Program& program) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return SystemError("failed to make a pipe", errno);
  const Fd output(pipes[0]);
  Fd low(pipes[1]);
  // Out of the way of the numbers that the program gets.
  Fd input(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
  low.Close();
  if (input.get() < 0 || fcntl(output.get(), F_SETFL, O_NONBLOCK) != 0) {
    return SystemError("failed to set up a pipe", errno);
  }
  pid_t pid = -1;
  const int error = Spawn(program, input.get(), &pid);
  input.Close();
  if (error != 0) return SystemError(StrCat("failed to start '", program.arguments[0], "'"), error);
  ProgramEnd end;
  Lines lines(program, &end);
  const bool in_time = ReadUntilEnd(program, pid, output.get(), &lines);
  // Also what it may have left behind; its number stays its own until it is reaped.
  if (in_time) AwaitEnd(pid);
  kill(-pid, SIGKILL);
  bool ok = false;
  end.how = Reap(pid, &ok);
  lines.Finish();
  end.ok = ok && in_time;
  if (!in_time) end.how = StrCat("took longer than ", program.limit.count(), " s and was ended");
  return end;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace nereid_backend
