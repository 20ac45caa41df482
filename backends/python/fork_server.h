// SPDX-License-Identifier: Apache-2.0
// ForkServer: starts the processes of the instances that have the same interpreter and environment.
// The first process is started as a program. If there are more, a process is prepared that has
// imported numpy and the backend's own files, and the others are forked from it: they start in
// milliseconds, and share the memory of what was imported. The prepared process may be kept for a
// while after the last model that uses it (fork_servers.h). ADR 26. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_FORK_SERVER_H_
#define NEREID_BACKENDS_PYTHON_FORK_SERVER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/process/output_lines.h"
#include "backends/sdk/process/process_keeper.h"

namespace nereid_backend {

// The keeper's thread is the parent of the forked processes, too, as far as the kernel is
// concerned, so they end with this object.
class ForkServer final : public ProcessKeeper {
 public:
  struct Spec {
    std::string interpreter;
    std::vector<std::string> environment;  // without kThreadVariables
    std::string main;                      // the program that the interpreter runs
    bool forks = true;                     // false: every process is started as a program
  };
  struct Instance {
    std::string title;                 // for people who read process lists
    std::vector<std::string> threads;  // values of kThreadVariables; one that is missing is not set
    std::vector<int> descriptors;      // the process sees them as 3, 4, ...
  };

  explicit ForkServer(Spec spec);
  ~ForkServer() override;

  // Starts a process, as a program if there is no other way. Blocks while a process is prepared.
  Result<ChildProcess> Start(const Instance& instance);

  // Nobody needs it any more, unless Return is called until `until` (NowNs): then the prepared
  // process ends. REQUIRES: no process that it has started runs.
  void Leave(uint64_t until);
  // It is needed again. False if its time is over at `now`: another one has to be made.
  bool Return(uint64_t now);

 private:
  Result<ChildProcess> StartProgram(const Instance& instance) const;
  // The connection with the prepared process; null if there is none to fork from.
  std::shared_ptr<const nereid_ipc::UniqueFd> Prepared();
  // Empty if the prepared process does not fork.
  static std::optional<ChildProcess> Fork(int prepared, const Instance& instance);

  Result<ChildProcess> StartChild() override;
  void OnOutput(std::string_view text) override;
  int heard() const override { return connection_->get(); }
  bool OnReadable() override;
  int timeout_ms() override;
  bool OnTimeout() override;
  uint64_t grace_ns() override { return 0; }
  std::string Explain(std::string how) override;
  void OnEnded(const std::string&) override {}

  void LogLine(std::string_view line) const;

  const Spec spec_;
  // Guarded by mu_.
  uint64_t starts_ = 0;
  bool given_up_ = false;  // the process is not prepared in time
  uint64_t until_ = 0;     // when it ends unless it is needed again; 0: it is needed
  // Set by the keeper's thread, under mu_; never null once the thread has started a process.
  std::shared_ptr<const nereid_ipc::UniqueFd> connection_;

  OutputLines lines_;  // the keeper's thread only
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_FORK_SERVER_H_
