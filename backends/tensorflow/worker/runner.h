// SPDX-License-Identifier: Apache-2.0
// Runner: the worker's end of a channel: a thread that executes the requests left by the server in
// the channel's memory. The thread owns everything except the turn, whose closing ends it.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_RUNNER_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_RUNNER_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker/loaded_model.h"

namespace nereid_tensorflow {

class Runner {
 public:
  // Starts the thread. `model` outlives the runner. May throw std::system_error.
  Runner(const LoadedModel& model, std::unique_ptr<ChannelMemory> memory);
  // Waits for the run in progress.
  ~Runner();

 private:
  void Loop();
  void Serve();
  Status Compute(const RunRequest& request, uint64_t* end, std::string* reply);
  Status MakeInputs(const RunRequest& request, std::vector<uint32_t>* indices,
                    std::vector<TfTensor>* tensors);
  // Writes the results to the memory from `*end` on, and moves `*end` past them.
  Status PlaceOutputs(const RunRequest& request, const std::vector<TfTensor>& outputs,
                      uint64_t* end, RunReply* reply);

  const LoadedModel& model_;
  const std::unique_ptr<ChannelMemory> memory_;
  // The model keeps its inputs after a run, so it gets copies.
  bool copy_inputs_ = false;
  std::thread thread_;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_RUNNER_H_
