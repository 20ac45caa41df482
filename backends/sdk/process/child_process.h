// ChildProcess: a program that this process has started, until it is reaped. Owned by the thread
// that started it, which has to live as long: the program asks the kernel to be ended when that
// thread ends.
#ifndef NEREID_BACKENDS_TENSORFLOW_CHILD_PROCESS_H_
#define NEREID_BACKENDS_TENSORFLOW_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>

#include "backends/sdk/error.h"
#include "backends/tensorflow/ipc/unique_fd.h"

namespace nereid_backend {

class ChildProcess {
 public:
  // Starts `executable` with two arguments: the number of this process, and `title`, for those who
  // look at a list of processes. It gets: an end of a
  // socket as descriptor 3; a pipe for standard output and error; no other descriptors; its own
  // process group; no blocked signals, and none ignored. Nothing runs between fork and exec that
  // another thread could have left locked.
  static Result<ChildProcess> Start(const std::string& executable, const std::string& title);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Ends it by force, unless it was reaped.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // This process's ends. Reading from the pipe blocks.
  nereid_tensorflow::UniqueFd TakeSocket() { return std::move(socket_); }
  int output() const { return output_.get(); }

  void Kill();
  // Waits for its end, and says what it was: "ended by signal 6 (Aborted)", "exited with status 1".
  std::string Reap();

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;  // -1: reaped, or moved from
  nereid_tensorflow::UniqueFd socket_;
  nereid_tensorflow::UniqueFd output_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_CHILD_PROCESS_H_
