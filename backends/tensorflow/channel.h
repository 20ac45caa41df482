// SPDX-License-Identifier: Apache-2.0
// Channel: an instance's connection to the worker: shared memory, and a turn that passes back and
// forth. Owned by the instance's thread; the supervisor closes the turn when the worker ends.
#ifndef NEREID_BACKENDS_TENSORFLOW_CHANNEL_H_
#define NEREID_BACKENDS_TENSORFLOW_CHANNEL_H_

#include <cstdint>
#include <memory>

#include "backends/sdk/error.h"
#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/supervisor.h"

namespace nereid_backend {

class Channel {
 public:
  // Created by Supervisor::OpenChannel.
  Channel(Supervisor* supervisor, std::shared_ptr<Supervisor::Worker> worker, uint64_t id,
          std::unique_ptr<nereid_tensorflow::ChannelMemory> memory);
  // Makes the worker close its end.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Memory for `size` bytes of inputs, for the next run. The results of the previous run become
  // invalid.
  Result<char*> Reserve(uint64_t size);
  // Runs the model on the inputs in the memory below request.outputs_offset, and waits. The places
  // in `reply` are valid until the next Reserve. UNAVAILABLE if the worker ends, after which the
  // channel is useless.
  Error Run(const nereid_tensorflow::RunRequest& request, nereid_tensorflow::RunReply* reply);
  // The place of the results.
  const char* data() const { return memory_->data(); }
  // When the worker began and ended to compute the last run, on the steady clock.
  uint64_t compute_start() const { return memory_->header()->compute_start_ns; }
  uint64_t compute_end() const { return memory_->header()->compute_end_ns; }

  // False once the worker has ended.
  bool usable() const;
  // How the worker ended. REQUIRES: it has.
  Error End() const;

 private:
  // Number of runs after which the memory is compared with the actual need.
  static constexpr int kWindow = 64;

  void TrimMemory();

  Supervisor* const supervisor_;
  const std::shared_ptr<Supervisor::Worker> worker_;
  const uint64_t id_;
  const std::unique_ptr<nereid_tensorflow::ChannelMemory> memory_;
  nereid_tensorflow::Packer packer_;
  int runs_ = 0;            // in the current window
  uint64_t most_used_ = 0;  // in the current window
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_CHANNEL_H_
