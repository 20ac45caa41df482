// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "backends/sdk/process/child_process.h"
#include "backends/sdk/process/output_lines.h"

namespace nereid_backend {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kGoodEnd = "exited with status 0";

// Replaces itself by the command that follows, after asking the kernel to kill it when the server
// ends.
constexpr const char* kStarter =
    "import ctypes,os,sys\n"
    "ctypes.CDLL(None).prctl(1,9,0,0,0)\n"
    "if os.getppid()!=int(sys.argv[1]): sys.exit(1)\n"
    "os.execv(sys.argv[2],sys.argv[2:])\n";

ChildProcess::Spec SpecOf(const Program& program) {
  ChildProcess::Spec spec;
  spec.environment = program.variables.list();
  spec.executable = program.arguments[0];
  auto first = program.arguments.begin();
  if (program.starter.empty()) {
    ++first;
  } else {
    spec.executable = program.starter;
    spec.arguments = {"-I", "-S", "-c", kStarter, std::to_string(getpid())};
  }
  spec.arguments.insert(spec.arguments.end(), first, program.arguments.end());
  return spec;
}

// The program's output: passed on line by line; the last lines are kept.
class Output {
 public:
  Output(const Program& program, ProgramEnd* end) : program_(program), end_(*end) {}

  // Reads the available output. False at the end of the output.
  bool ReadSome(int fd) {
    char buffer[4096];
    while (true) {
      const ssize_t size = read(fd, buffer, sizeof(buffer));
      if (size > 0) {
        lines_.Add({buffer, static_cast<size_t>(size)}, [&](std::string_view line) { Take(line); });
      } else if (size == 0) {
        return false;
      } else if (errno != EINTR) {
        return errno == EAGAIN;
      }
    }
  }
  void Finish() {
    lines_.Flush([&](std::string_view line) { Take(line); });
  }

 private:
  void Take(std::string_view line) {
    end_.tail.emplace_back(line);
    if (program_.on_line) program_.on_line(end_.tail.back());
    if (end_.tail.size() > kTailLines) end_.tail.erase(end_.tail.begin());
  }

  const Program& program_;
  ProgramEnd& end_;
  OutputLines lines_;
};

// Waits until the program has ended or, if the kernel cannot report that, until its output has
// ended. False if the time is up.
bool ReadUntilEnd(const Program& program, const ChildProcess& child, Output* output) {
  const nereid_ipc::UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, child.pid(), 0)));
  const Clock::time_point deadline = Clock::now() + program.limit;
  bool open = true;
  while (true) {
    pollfd waits[2] = {{open ? child.output() : -1, POLLIN, 0}, {process.get(), POLLIN, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    poll(waits, 2, static_cast<int>(std::min<int64_t>(left + 1, INT32_MAX)));
    if (waits[0].revents != 0) open = output->ReadSome(child.output());
    if (waits[1].revents != 0) {
      // Its own children may keep the pipe open; they are not waited for.
      if (open) output->ReadSome(child.output());
      return true;
    }
    if (!open && !process.valid()) return true;
  }
}

// Waits without reaping the process, so its process id stays reserved.
void AwaitEnd(pid_t pid) {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

}  // namespace

Result<ProgramEnd> RunProgram(const Program& program) {
  NB_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(SpecOf(program)));
  if (fcntl(child.output(), F_SETFL, O_NONBLOCK) != 0) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("failed to set up a pipe: ", std::strerror(errno)));
  }
  ProgramEnd end;
  Output output(program, &end);
  const bool in_time = ReadUntilEnd(program, child, &output);
  if (in_time) AwaitEnd(child.pid());
  child.Kill();  // also kills children that it may have left behind
  end.how = child.Reap();
  output.Finish();
  end.ok = in_time && end.how == kGoodEnd;
  if (!in_time) end.how = StrCat("took longer than ", program.limit.count(), " s and was ended");
  return end;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace nereid_backend
