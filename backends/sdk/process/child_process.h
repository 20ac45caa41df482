// ChildProcess: a program that this process has started, until it is reaped. Owned by the thread
// that started it, which has to live as long: such a program asks the kernel to be ended when that
// thread ends.
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
    std::vector<int> descriptors;          // it sees them as 3, 4, ...
  };

  // The process gets: a pipe for standard output and error; `descriptors`, and no others; its own
  // process group; no blocked signals, and none ignored. Nothing runs between fork and exec that
  // another thread could have left locked.
  static Result<ChildProcess> Start(const Spec& spec);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Ends it by force, unless it was reaped.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // This process's end of the pipe. Reading from it blocks.
  int output() const { return output_.get(); }

  // Ends it by force, and the processes that it has started, as far as they have stayed in its
  // group.
  void Kill();
  // Waits for its end, and says what it was: "ended by signal 6 (Aborted)", "exited with status 1".
  std::string Reap();

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;  // -1: reaped, or moved from
  nereid_ipc::UniqueFd output_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_PROCESS_CHILD_PROCESS_H_
