// Supervisor: keeps a worker process for one model version: starts it, has it load the model, logs
// what it writes, starts it anew when it ends, and ends it with the model. Its thread is the parent
// of the process and the only one that reads what it says. Thread-safe.
#ifndef NEREID_BACKENDS_TENSORFLOW_SUPERVISOR_H_
#define NEREID_BACKENDS_TENSORFLOW_SUPERVISOR_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "backends/sdk/error.h"
#include "backends/tensorflow/back_off.h"
#include "backends/tensorflow/child_process.h"
#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/control_socket.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker_log.h"

namespace nereid_backend {

class Channel;

class Supervisor {
 public:
  struct Spec {
    std::string executable;
    std::string model;  // for texts
    nereid_tensorflow::LoadRequest load;
  };

  // Starts the worker and waits until it has loaded the model. An Error says why it could not.
  static Result<std::unique_ptr<Supervisor>> Start(Spec spec);
  // Ends the worker. REQUIRES: its channels are gone.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // What the worker found in the model's files. The same for its successors.
  const nereid_tensorflow::LoadReply& loaded() const { return loaded_; }

  // Waits while a worker starts. UNAVAILABLE while the next one is not to be started yet.
  Result<std::unique_ptr<Channel>> OpenChannel();
  // Success while a worker serves or starts; what OpenChannel would say otherwise. Does not block.
  Error Ready();

 private:
  friend class Channel;

  // One worker, from its start to its end.
  struct Worker {
    explicit Worker(nereid_tensorflow::UniqueFd fd) : socket(std::move(fd)) {}

    // Sending: who has call_busy_. Receiving: the supervisor's thread.
    nereid_tensorflow::ControlSocket socket;
    // The rest: guarded by mu_.
    bool ended = false;
    std::string end;  // how it ended
    std::map<uint64_t, std::shared_ptr<nereid_tensorflow::Mapping>> channels;
  };
  enum class State {
    kStarting,
    kReady,
    kWaiting,  // until restart_at_
    kOver,     // the first worker could not load the model, or this is to end
  };

  explicit Supervisor(Spec spec) : spec_(std::move(spec)) {}

  // What the supervisor's thread does.
  void Loop();
  // Starts a worker, serves it until it ends, and reaps it.
  void LiveOnce();
  // Reads what the worker says and logs, until it is about to end or is to end.
  void Listen(const ChildProcess& child, Worker* worker, WorkerLog* log);
  // Waits for its end, which is due; after a while by force. Says how it ended.
  static std::string AwaitEnd(ChildProcess* child, WorkerLog* log);
  static bool ReadOutput(const ChildProcess& child, WorkerLog* log);
  // False when that is not what it can say now.
  bool TakeMessage(std::string bytes);
  bool TakeLoadReply(const std::string& bytes);
  // The end of a worker: reaps it and tells those who wait for it.
  void MarkEnded(Worker* worker, ChildProcess* child, WorkerLog* log);
  bool PrepareRestart(uint64_t started);
  bool stopping();

  // Sends a question, and returns the worker's answer to it. One at a time.
  Error Call(Worker* worker, std::string_view message, int fd);
  // REQUIRES: mu_ is held, and the worker has ended.
  Error EndedError(const Worker& worker) const;
  Error WaitingError() const;
  // How `worker`, which has closed a channel, has ended.
  Error EndOf(const Worker& worker);
  void CloseChannel(Worker* worker, uint64_t id);

  const Spec spec_;
  nereid_tensorflow::UniqueFd stop_;  // an eventfd: `stopping_` was set
  BackOff back_off_;                  // the supervisor's thread only

  std::mutex mu_;
  std::condition_variable changed_;
  // Guarded by mu_, but for loaded_, which does not change any more once Start has returned.
  State state_ = State::kStarting;
  bool stopping_ = false;
  bool ever_loaded_ = false;
  nereid_tensorflow::LoadReply loaded_;
  Error start_error_;               // why the first worker could not load the model
  std::string last_end_;            // how the last worker ended
  uint64_t restart_at_ = 0;         // steady clock
  std::shared_ptr<Worker> worker_;  // the present one
  uint64_t next_channel_ = 1;
  bool call_busy_ = false;
  std::optional<std::string> answer_;  // to the call that is under way

  std::thread thread_;  // last: it uses the others
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_SUPERVISOR_H_
