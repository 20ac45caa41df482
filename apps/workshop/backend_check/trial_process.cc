// SPDX-License-Identifier: Apache-2.0
#include "backend_check/trial_process.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "child_process/child_process.h"

namespace nereid {
namespace {

constexpr int kReportFd = 3;  // in the process
constexpr size_t kKeptOutput = 64 << 10;
constexpr int kLookMs = 50;

// A pipe whose ends are closed with the object.
struct Pipe {
  int read_end = -1, write_end = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
    fcntl(read_end, F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    if (read_end >= 0) close(read_end);
    CloseWriteEnd();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void CloseWriteEnd() {
    if (write_end >= 0) close(std::exchange(write_end, -1));
  }
  // All that is there to read.
  std::string Read() const {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t count; (count = read(read_end, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<size_t>(count));
    }
    return text;
  }
};

class Trial {
 public:
  absl::Status Start(const std::vector<std::string>& command);
  TrialResult Await(Duration silence);

 private:
  void Collect();
  void OnLine(const std::vector<std::string>& fields);
  void OnEnd(int status);

  Pipe report_, output_;
  std::unique_ptr<ChildProcess> process_;
  std::string unread_;        // the beginning of a line
  std::string phase_, call_;  // the last ones reported
  TimePoint last_report_;
  TrialResult result_;
};

absl::Status Trial::Start(const std::vector<std::string>& command) {
  if (report_.read_end < 0 || output_.read_end < 0) {
    return absl::InternalError(absl::StrCat("no pipe: ", std::strerror(errno)));
  }
  std::vector<std::string> words = command;
  words.push_back(absl::StrCat("--report=", kReportFd));
  ASSIGN_OR_RETURN(process_, ChildProcess::Start(words, {{output_.write_end, STDOUT_FILENO},
                                                         {output_.write_end, STDERR_FILENO},
                                                         {report_.write_end, kReportFd}}));
  report_.CloseWriteEnd();
  output_.CloseWriteEnd();
  return absl::OkStatus();
}

void Trial::OnLine(const std::vector<std::string>& fields) {
  last_report_ = Clock::Real()->Now();
  if (fields.size() < 3) return;
  const std::string& kind = fields[0];
  if (kind == "phase") {
    phase_ = fields[1];
    call_.clear();
  }
  if (kind == "call") call_ = fields[1];
  if (kind == "finding") result_.AddFinding(fields[1], fields[2]);
  if (kind == "note") result_.AddNote(fields[1]);
  if (kind == "cannot") result_.cannot = fields[1];
  if (kind == "done") result_.complete = true;
  if (kind == "count") {
    for (Finding& finding : result_.findings) {
      if (finding.id == fields[1]) (void)absl::SimpleAtoi(fields[2], &finding.count);
    }
  }
}

void Trial::Collect() {
  result_.output += output_.Read();
  if (result_.output.size() > kKeptOutput) {
    result_.output.erase(0, result_.output.size() - kKeptOutput);
  }
  unread_ += report_.Read();
  std::vector<std::string> lines = absl::StrSplit(unread_, '\n');
  unread_ = lines.back();
  lines.pop_back();
  for (const std::string& line : lines) OnLine(absl::StrSplit(line, '\t'));
}

void Trial::OnEnd(int status) {
  if (result_.complete) return;
  const std::string where =
      call_.empty() ? phase_ : absl::StrCat(phase_, ": the last call was ", call_);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    result_.AddFinding("crash",
                       absl::StrCat(where, "; signal ", signal, " (", strsignal(signal), ")"));
  } else {
    result_.AddFinding(
        "crash", absl::StrCat(where, "; it ended with the exit status ", WEXITSTATUS(status)));
  }
}

TrialResult Trial::Await(Duration silence) {
  last_report_ = Clock::Real()->Now();
  int status = 0;
  for (;;) {
    struct pollfd ends[] = {{report_.read_end, POLLIN, 0}, {output_.read_end, POLLIN, 0}};
    poll(ends, 2, kLookMs);
    const std::optional<int> ended = process_->Ended();
    Collect();
    if (ended.has_value()) {
      status = *ended;
      break;
    }
    if (Clock::Real()->Now() - last_report_ > silence) {
      result_.AddFinding("hang", absl::StrCat(phase_, ": nothing more was heard of the process"));
      result_.complete = true;
      status = process_->Kill();
      break;
    }
  }
  process_->Kill();  // what the backend has started and left
  OnEnd(status);
  return std::move(result_);
}

}  // namespace

absl::StatusOr<TrialResult> RunTrial(const std::vector<std::string>& command, Duration silence) {
  Trial trial;
  if (absl::Status started = trial.Start(command); !started.ok()) return started;
  return trial.Await(silence);
}

}  // namespace nereid
