// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/channel.h"

#include <algorithm>

#include "backends/tensorflow/status_error.h"

namespace nereid_backend {

using nereid_tensorflow::ChannelMemory;
using nereid_tensorflow::RunReply;
using nereid_tensorflow::RunRequest;
using nereid_tensorflow::Turn;

Channel::Channel(Supervisor* supervisor, std::shared_ptr<Supervisor::Worker> worker, uint64_t id,
                 std::unique_ptr<ChannelMemory> memory)
    : supervisor_(supervisor), worker_(std::move(worker)), id_(id), memory_(std::move(memory)) {}

Channel::~Channel() { supervisor_->CloseChannel(worker_.get(), id_); }

bool Channel::usable() const {
  const std::lock_guard lock(supervisor_->mu_);
  return !worker_->ended;
}

Error Channel::End() const { return supervisor_->EndOf(*worker_); }

// Keeps one large run from holding its memory forever.
void Channel::TrimMemory() {
  if (++runs_ < kWindow) return;
  if (most_used_ < memory_->header()->paged_size / 2) memory_->Trim(most_used_);
  runs_ = 0;
  most_used_ = 0;
}

Result<char*> Channel::Reserve(uint64_t size) {
  TrimMemory();
  NB_RETURN_IF_ERROR(ToError(memory_->Reserve(size)));
  return memory_->data();
}

Error Channel::Run(const RunRequest& request, RunReply* reply) {
  request.PackTo(&packer_);
  NB_RETURN_IF_ERROR(ToError(memory_->PutMessage(request.outputs_offset, packer_.bytes())));
  Turn& turn = memory_->header()->turn;
  if (!turn.Pass(Turn::kServer, Turn::kWorker) || turn.WaitWhile(Turn::kWorker) == Turn::kClosed) {
    return End();
  }
  NB_RETURN_IF_ERROR(ToError(memory_->Refresh()));
  if (!RunReply::Unpack(memory_->message(), memory_->size(), reply)) {
    return Error::Internal("an answer of the TensorFlow process is damaged");
  }
  most_used_ =
      std::max(most_used_, memory_->header()->message_offset + memory_->header()->message_size);
  return ToError(reply->status);
}

}  // namespace nereid_backend
