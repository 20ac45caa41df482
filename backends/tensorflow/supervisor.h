// SPDX-License-Identifier: Apache-2.0
// Supervisor: keeps a worker process for one model version: makes it load the model, and requests
// channels from it. The keeper's thread is the only reader of the worker's messages. Thread-safe.
#ifndef NEREID_BACKENDS_TENSORFLOW_SUPERVISOR_H_
#define NEREID_BACKENDS_TENSORFLOW_SUPERVISOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "backends/sdk/error.h"
#include "backends/sdk/process/back_off.h"
#include "backends/sdk/process/process_keeper.h"
#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/control_socket.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker_log.h"

namespace nereid_backend {

class Channel;

class Supervisor : public ProcessKeeper {
 public:
  struct Spec {
    std::string executable;
    std::string model;                                // for messages
    uint64_t load_limit_ns = 600 * BackOff::kSecond;  // how long a worker may load
    nereid_tensorflow::LoadRequest load;
  };

  // Starts the worker and waits until it has loaded the model. An Error says why it could not.
  static Result<std::unique_ptr<Supervisor>> Start(Spec spec);
  // Ends the worker. REQUIRES: its channels are destroyed.
  ~Supervisor() override;

  // What the worker found in the model's files. Identical for its successors.
  const nereid_tensorflow::LoadReply& loaded() const { return loaded_; }

  // Waits while a worker starts. UNAVAILABLE if it is too early to start the next one. `on_end` is
  // called when the worker has ended, unless the channel is destroyed before, on the keeper's
  // thread, with no lock held; it must neither block nor use the channel or this. Destroying the
  // channel waits until it has returned.
  Result<std::unique_ptr<Channel>> OpenChannel(std::function<void()> on_end);

 private:
  friend class Channel;

  struct OpenedChannel {
    std::shared_ptr<nereid_ipc::Mapping> header;
    std::function<void()> on_end;
  };
  // One worker, from its start to its end.
  struct Worker {
    explicit Worker(nereid_ipc::UniqueFd fd) : socket(std::move(fd)) {}

    // Sending: the thread that set call_busy_. Receiving: the supervisor's thread.
    nereid_tensorflow::ControlSocket socket;
    // The rest: guarded by mu_.
    bool ended = false;
    bool telling = false;                        // OnEnded calls the channels' on_end
    std::string end;                             // how it ended
    std::map<uint64_t, OpenedChannel> channels;  // does not change while `telling`
  };
  explicit Supervisor(Spec spec);

  // Overrides for the keeper. The worker's messages arrive on its socket.
  Result<ChildProcess> StartChild() override;
  void OnOutput(std::string_view text) override { log_->Add(text); }
  int heard() const override { return worker_->socket.fd(); }
  bool OnReadable() override;
  int timeout_ms() override;
  bool OnTimeout() override;
  void OnEnding() override;
  std::string Explain(std::string how) override;
  void OnEnded(const std::string& how) override;
  // False if the worker must not send that message now.
  bool TakeMessage(std::string bytes);
  bool TakeLoadReply(const std::string& bytes);

  // Sends a question and returns the worker's answer. One question at a time.
  Error Call(Worker* worker, std::string_view message, int fd);
  // How `worker`, which has closed a channel, has ended.
  Error EndOf(const Worker& worker);
  void CloseChannel(Worker* worker, uint64_t id);

  const Spec spec_;
  std::unique_ptr<WorkerLog> log_;  // the keeper's thread only

  // Guarded by mu_, except loaded_, which does not change after Start has returned, and worker_,
  // which only the keeper's thread sets.
  nereid_tensorflow::LoadReply loaded_;
  std::shared_ptr<Worker> worker_;  // the current worker
  uint64_t load_deadline_ = 0;      // of the current worker; 0: it has loaded
  uint64_t next_channel_ = 1;
  bool call_busy_ = false;
  std::optional<std::string> answer_;  // to the call in progress
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_SUPERVISOR_H_
