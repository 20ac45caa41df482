// SPDX-License-Identifier: Apache-2.0
// ChildProcess: a program that this process has started, until it is reaped. The thread that
// started it must live as long, because the kernel kills such a program when that thread ends.
// Owned by one thread.
#ifndef NEREID_BACKENDS_SDK_PROCESS_CHILD_PROCESS_H_
#define NEREID_BACKENDS_SDK_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_backend {

class ChildProcess {
 public:
  struct Spec {
    std::string executable;                // a path
    std::vector<std::string> arguments;    // after its name
    std::vector<std::string> environment;  // "NAME=value"; empty: that of this process
    std::vector<int> descriptors;          // the program sees them as 3, 4, ...
  };

  // The process gets a pipe for standard output and error, `descriptors` and no others, its own
  // process group, and no blocked or ignored signals. Nothing between fork and exec uses a lock
  // that another thread might hold.
  static Result<ChildProcess> Start(const Spec& spec);
  // Takes over a child of this process that was started in another way and is not reaped yet.
  // `output`: the parent's end of its pipe.
  static ChildProcess Adopt(pid_t pid, nereid_ipc::UniqueFd output);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills the process, unless it was reaped.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // The parent's end of the pipe. Reading from it blocks.
  int output() const { return output_.get(); }

  // Kills the process and those of its children that have stayed in its group.
  void Kill();
  // Waits for the end of the process, and describes it: "ended by signal 6 (Aborted)", "exited with
  // status 1".
  std::string Reap();
  // The signal that has ended the process, once it is reaped; 0: none, or nobody knows.
  int end_signal() const { return end_signal_; }

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;  // -1: reaped, or moved from
  int end_signal_ = 0;
  nereid_ipc::UniqueFd output_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_PROCESS_CHILD_PROCESS_H_
