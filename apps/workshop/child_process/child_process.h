// SPDX-License-Identifier: Apache-2.0
// ChildProcess: a program that runs beside this one and ends with it, however this one ends. It has
// a process group of its own. Used by one thread, which lives as long as the object.
#ifndef NEREID_APPS_WORKSHOP_CHILD_PROCESS_CHILD_PROCESS_H_
#define NEREID_APPS_WORKSHOP_CHILD_PROCESS_CHILD_PROCESS_H_

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

class ChildProcess {
 public:
  // The child's descriptor `as` is this process's `fd`, which is closed on exec there.
  struct Redirection {
    int fd = -1;
    int as = -1;
  };

  // `command`: the path of the program and its arguments. INTERNAL if it cannot be started.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& command, const std::vector<Redirection>& redirections);
  // Kills what is left of the group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The status of waitpid if the child has ended.
  std::optional<int> Ended();
  // Sends a signal to the child alone, if it still runs.
  void Signal(int number);
  // Kills the whole group, and waits for the child. Returns its status.
  int Kill();

  // The processes of the group at present.
  std::vector<int> Processes() const;
  // Bytes of physical memory that the processes of the group have at present, shared ones counted
  // by each.
  uint64_t MemoryBytes() const;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<int> status_;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_CHILD_PROCESS_CHILD_PROCESS_H_
