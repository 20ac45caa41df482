// SPDX-License-Identifier: Apache-2.0
// PythonProcess: the process of one instance of a Python model: starts and initialises it, listens
// to it, and restarts it when it ends. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_PYTHON_PROCESS_H_
#define NEREID_BACKENDS_PYTHON_PYTHON_PROCESS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/python/calls.h"
#include "backends/python/fork_server.h"
#include "backends/python/open_requests.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "backends/sdk/process/output_lines.h"
#include "backends/sdk/process/process_keeper.h"

namespace nereid_backend {

class PythonProcess : public ProcessKeeper {
 public:
  struct Spec {
    std::shared_ptr<ForkServer> starter;
    std::vector<std::string> threads;  // as ForkServer::Instance has them
    std::string model;                 // for messages
    uint64_t start_limit_ns = 0;       // limit for commands before the first request
    size_t last_lines = 20;            // lines of its output shown in the error when it ends
    TRITONSERVER_Server* server = nullptr;
  };
  // One process, from its start to its end.
  struct Life {
    std::shared_ptr<Transport> transport;
    std::unique_ptr<Calls> calls;
    bool ended = false;             // guarded by mu_
    std::string end;                // guarded by mu_: how it ended
    bool killed_by_others = false;  // guarded by mu_: as ProcessKeeper's
  };

  // Starts a process and asks it to complete `config`. `message` is the message of the command. The
  // process then waits for Initialize.
  static Result<std::unique_ptr<PythonProcess>> StartToComplete(Spec spec,
                                                                nereid_python::ValueWriter message);
  // A process that starts when Initialize is called.
  static std::unique_ptr<PythonProcess> Make(Spec spec);
  // Ends the process.
  ~PythonProcess() override;

  // The configuration as completed by the model's auto_complete_config; empty if the model has
  // none.
  const std::optional<std::string>& completed() const { return completed_; }
  // Called when the process can execute from now on, and when it cannot any more; by one thread,
  // with no lock held.
  using OnAvailable = std::function<void(bool available)>;
  // Makes it the process of an instance. `requests` and `node` outlive the object.
  Error Initialize(std::string instance, nereid_python::ValueWriter message, OpenRequests* requests,
                   WaitGraph::Node* node, OnAvailable on_available);
  // Calls the model's finalize, and ends the process.
  void Finalize(uint64_t limit_ns);

  // Waits while a process starts. UNAVAILABLE if it is too early to start the next one.
  Result<std::shared_ptr<Life>> Get();
  // Whether the model has a function is_ready.
  bool has_is_ready();
  // Waits for the end of the process, which is imminent; returns how it ended. `*by_others`:
  // whether it was killed from outside.
  Error EndOf(const std::shared_ptr<Life>& life, bool* by_others);

 private:
  explicit PythonProcess(Spec spec);

  Result<ChildProcess> StartChild() override;
  void OnOutput(std::string_view text) override;
  int heard() const override { return life_->transport->doorbell(); }
  bool OnReadable() override;
  int timeout_ms() override;
  // Finalize has waited for it already.
  uint64_t grace_ns() override { return 0; }
  bool OnTimeout() override;
  void OnEnding() override;
  std::string Explain(std::string how) override;
  void OnEnded(const std::string& how) override;

  // When memory may be given back; 0: there is none to be.
  uint64_t TrimDue();
  // Tells `on_available_`.
  void SayAvailable(bool available);
  std::string Who();  // for the log
  void LogLine(std::string_view line);
  void AwaitExit();
  bool EndedWell(const Life& life);
  bool TakeReply();
  bool TakeCompleted(nereid_python::ValueReader* reply);
  bool TakeInitialized(nereid_python::ValueReader* reply);

  const Spec spec_;

  // Guarded by mu_.
  std::string instance_;  // empty while it only completes a configuration
  nereid_python::ValueWriter complete_message_;
  nereid_python::ValueWriter initialize_message_;
  OpenRequests* requests_ = nullptr;
  WaitGraph::Node* node_ = nullptr;
  OnAvailable on_available_;  // empty while it only completes a configuration
  bool completing_ = false;
  bool completed_over_ = false;
  std::optional<std::string> completed_;
  bool has_is_ready_ = false;
  uint64_t deadline_ = 0;  // for the answer to the first command; 0: none
  // Set by the keeper's thread, under mu_.
  std::shared_ptr<Life> life_;

  // The keeper's thread only.
  std::vector<std::shared_ptr<Life>> retired_;  // processes whose calls have not ended
  uint64_t trim_at_ = 0;                        // as TrimDue
  OutputLines lines_;
  std::deque<std::string> last_lines_;  // of the current process
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_PYTHON_PROCESS_H_
