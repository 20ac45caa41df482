// SPDX-License-Identifier: Apache-2.0
// ProcessKeeper: keeps a process running for as long as it is needed: starts it, reads its output,
// restarts it after a growing delay when it ends, and ends it. Its thread is the parent of the
// process. The derived class defines the purpose of the process.
//
// The derived class calls Begin once it is fully constructed, and Stop in its destructor.
// StartChild and the functions whose names begin with `On` are called by the keeper's thread, with
// no lock held.
#ifndef NEREID_BACKENDS_SDK_PROCESS_PROCESS_KEEPER_H_
#define NEREID_BACKENDS_SDK_PROCESS_PROCESS_KEEPER_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "backends/sdk/error.h"
#include "backends/sdk/ipc/unique_fd.h"
#include "backends/sdk/process/back_off.h"
#include "backends/sdk/process/child_process.h"

namespace nereid_backend {

class ProcessKeeper {
 public:
  ProcessKeeper(const ProcessKeeper&) = delete;
  ProcessKeeper& operator=(const ProcessKeeper&) = delete;

  // Success while the process serves or starts; otherwise an error that says how it ended and when
  // the next one starts. Does not block. Thread-safe.
  Error Ready();

 protected:
  enum class State {
    kStarting,
    kReady,
    kWaiting,  // until the time of the next start
    kOver,     // the first process did not become ready, or the keeper is ending
  };

  // `what` names the process in messages: "the TensorFlow process of model 'm'".
  explicit ProcessKeeper(std::string what) : what_(std::move(what)) {}
  virtual ~ProcessKeeper() = default;

  // Starts the thread, which starts the first process.
  Error Begin();
  // Waits until the first process is ready. An Error says why it did not become ready.
  Error AwaitFirst();
  // Ends the process and the thread.
  void Stop();
  // The process was told to end, and will not be restarted.
  void ExpectEnd();
  // Makes the keeper's thread ask for timeout_ms() again. Does nothing before Begin.
  void Wake();

  // Starts the next process.
  virtual Result<ChildProcess> StartChild() = 0;
  // The output of the process.
  virtual void OnOutput(std::string_view text) = 0;
  // A descriptor with messages of the process; OnReadable is called when it is readable. If
  // OnReadable returns false, the process is ended.
  virtual int heard() const = 0;
  virtual bool OnReadable() = 0;
  // Milliseconds after which OnTimeout is called unless a message arrives before; -1: never.
  virtual int timeout_ms() { return -1; }
  virtual bool OnTimeout() { return true; }
  // The process is about to end or will be ended, so nothing more is expected of it. Called before
  // it is reaped.
  virtual void OnEnding() {}
  // How long the process may take to end before it is killed.
  virtual uint64_t grace_ns() { return 2 * BackOff::kSecond; }
  // Explains `how` the process ended ("exited with status 1") in one line.
  virtual std::string Explain(std::string how) { return how; }
  // The process has ended; `how` is the result of Explain.
  virtual void OnEnded(const std::string& how) = 0;
  // Within OnEnded: whether the process was ended by a signal that others send: an operator, or the
  // kernel for lack of memory, and not the keeper. Then it has probably done nothing wrong.
  bool killed_by_others() const { return killed_by_others_; }

  // "the TensorFlow process of model 'm' ended by signal 9 (Killed)"
  Error EndedError(std::string_view how) const;
  // REQUIRES for the following: mu_ is held. The current process can serve its purpose.
  void BecomeReady();
  // Records why the first process cannot become ready. For later processes see SetEnd.
  void RefuseStart(Error why);
  // Replaces the description of how the current process ended.
  void SetEnd(std::string how) { last_end_ = std::move(how); }
  Error WaitingError() const;

  // Also guards what the derived class shares with its callers; changed_ is notified of every
  // change.
  std::mutex mu_;
  std::condition_variable changed_;
  // Guarded by mu_.
  State state_ = State::kStarting;
  bool stopping_ = false;
  bool end_expected_ = false;
  bool ever_ready_ = false;

 private:
  void Loop();
  void LiveOnce();
  void Listen(const ChildProcess& child, int process);
  bool ReadOutput(const ChildProcess& child);
  std::string AwaitEnd(ChildProcess* child, int process);
  bool PrepareRestart(uint64_t started);
  bool stopping();

  const std::string what_;
  nereid_ipc::UniqueFd wake_;  // an eventfd: `stopping_` was set, or timeout_ms() has changed
  // The keeper's thread only.
  BackOff back_off_;
  bool killed_by_others_ = false;

  // Guarded by mu_.
  Error start_error_;        // why the first process did not become ready
  std::string last_end_;     // how the last process ended
  uint64_t restart_at_ = 0;  // steady clock

  std::thread thread_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_PROCESS_PROCESS_KEEPER_H_
