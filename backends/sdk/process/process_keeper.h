// ProcessKeeper: keeps a process for as long as somebody needs it: starts it, reads what it writes,
// starts it anew when it ends, after a pause that grows, and ends it. Its thread is the parent of
// the process. What the process is there for is known by the derived class.
//
// The derived class calls Begin once it is complete, and Stop in its destructor. The functions
// that begin with `On` and StartChild are called by the keeper's thread, with no lock held.
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

  // Success while the process serves or starts; otherwise how it ended and when the next one is
  // started. Does not block. Thread-safe.
  Error Ready();

 protected:
  enum class State {
    kStarting,
    kReady,
    kWaiting,  // for the time of the next start
    kOver,     // the first process did not become ready, or this is to end
  };

  // `what` is named in texts: "the TensorFlow process of model 'm'".
  explicit ProcessKeeper(std::string what) : what_(std::move(what)) {}
  virtual ~ProcessKeeper() = default;

  // Starts the thread, which starts the first process.
  Error Begin();
  // Waits until the first process is ready. An Error says why it is not.
  Error AwaitFirst();
  // Ends the process and the thread.
  void Stop();
  // The process has been told to end, and is not started anew.
  void ExpectEnd();

  // Starts the next process.
  virtual Result<ChildProcess> StartChild() = 0;
  // What the process writes.
  virtual void OnOutput(std::string_view text) = 0;
  // A descriptor by which the process is heard; OnReadable is called when there is something to
  // read. False: the process is to be ended.
  virtual int heard() const = 0;
  virtual bool OnReadable() = 0;
  // After how many milliseconds OnTimeout is called, unless something is heard before; -1: never.
  virtual int timeout_ms() { return -1; }
  virtual bool OnTimeout() { return true; }
  // The process is about to end or is to end: nothing more is expected of it. Before it is reaped.
  virtual void OnEnding() {}
  // How long it may take for that, before it is ended by force.
  virtual uint64_t grace_ns() { return 2 * BackOff::kSecond; }
  // What `how` it ended ("exited with status 1") means, in one line.
  virtual std::string Explain(std::string how) { return how; }
  // The process has ended; `how` is what Explain said.
  virtual void OnEnded(const std::string& how) = 0;

  // "the TensorFlow process of model 'm' ended by signal 9 (Killed)"
  Error EndedError(std::string_view how) const;
  // REQUIRES for the following: mu_ is held.
  // The present process can do what it is there for.
  void BecomeReady();
  // The first process says why it can not be ready. Later ones: see SetEnd.
  void RefuseStart(Error why);
  // What is said of the end of the present process instead of how it ended.
  void SetEnd(std::string how) { last_end_ = std::move(how); }
  Error WaitingError() const;

  // Guards what the derived class shares with its callers, too; changed_ is notified of any change.
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
  nereid_ipc::UniqueFd stop_;  // an eventfd: `stopping_` was set
  BackOff back_off_;           // the keeper's thread only

  // Guarded by mu_.
  Error start_error_;        // why the first process did not become ready
  std::string last_end_;     // how the last process ended
  uint64_t restart_at_ = 0;  // steady clock

  std::thread thread_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_PROCESS_PROCESS_KEEPER_H_
