#include "backends/tensorflow/worker/runner.h"

#include <pthread.h>

#include <exception>
#include <new>

#include "backends/tensorflow/worker/tensors.h"

namespace nereid_tensorflow {

Runner::Runner(const LoadedModel& model, std::unique_ptr<ChannelMemory> memory)
    : model_(model), memory_(std::move(memory)), thread_([this] { Loop(); }) {}

Runner::~Runner() {
  memory_->header()->turn.Close();
  thread_.join();
}

void Runner::Loop() {
  pthread_setname_np(pthread_self(), "tf-run");
  Turn& turn = memory_->header()->turn;
  while (turn.WaitWhile(Turn::kServer) == Turn::kWorker) {
    Serve();
    turn.Pass(Turn::kWorker, Turn::kServer);
  }
}

void Runner::Serve() {
  uint64_t end = 0;
  RunReply failed;
  std::string reply;
  memory_->header()->compute_start_ns = memory_->header()->compute_end_ns = 0;
  try {
    failed.status = memory_->Refresh();
    RunRequest request;
    if (failed.status.ok() && !RunRequest::Unpack(memory_->message(), &request)) {
      failed.status = Status::Internal("a message of the server is damaged");
    }
    if (failed.status.ok()) {
      // Unpack has copied the request, so the reply may overwrite it in the memory.
      end = request.outputs_offset;
      failed.status = Compute(request, &end, &reply);
    }
  } catch (const std::bad_alloc&) {
    failed.status = Status::Unavailable("out of memory");
  } catch (const std::exception& error) {
    failed.status = Status::Internal(error.what());
  }
  if (!failed.status.ok()) reply = failed.Pack();
  // If there is no room for the reply, an empty reply reports that.
  if (!memory_->PutMessage(AlignUp(end), reply).ok()) memory_->header()->message_size = 0;
}

Status Runner::MakeInputs(const RunRequest& request, std::vector<uint32_t>* indices,
                          std::vector<TfTensor>* tensors) {
  for (const PlacedTensor& placed : request.inputs) {
    if (placed.index >= model_.input_count()) return Status::Internal("there is no such input");
    indices->push_back(placed.index);
    tensors->emplace_back();
    Status made = MakeTensor(placed, model_.input_type(placed.index), memory_->data_mapping(),
                             copy_inputs_, &tensors->back());
    if (!made.ok()) return made;
  }
  return {};
}

Status Runner::Compute(const RunRequest& request, uint64_t* end, std::string* reply) {
  for (const uint32_t index : request.outputs) {
    if (index >= model_.output_count()) return Status::Internal("there is no such output");
  }
  const std::shared_ptr<Mapping> shared = memory_->data_mapping();
  std::vector<TfTensor> outputs;
  Status ran;
  {
    std::vector<uint32_t> indices;
    std::vector<TfTensor> inputs;
    ran = MakeInputs(request, &indices, &inputs);
    if (!ran.ok()) return ran;
    ComputeTimes times;
    ran = model_.Run(indices, inputs, request.outputs, &outputs, &times);
    memory_->header()->compute_start_ns = times.start_ns;
    memory_->header()->compute_end_ns = times.end_ns;
  }
  RunReply placed;
  if (ran.ok()) ran = PlaceOutputs(request, outputs, end, &placed);
  outputs.clear();  // an output may be one of the inputs
  // Now that the inputs are released, only the model can hold another reference, for instance in a
  // queue.
  if (shared.use_count() > (shared == memory_->data_mapping() ? 2 : 1)) {
    copy_inputs_ = true;
    Status detached = memory_->Detach(shared, request.outputs_offset);
    if (!detached.ok()) return detached;
  }
  if (ran.ok()) *reply = placed.Pack();
  return ran;
}

Status Runner::PlaceOutputs(const RunRequest& request, const std::vector<TfTensor>& outputs,
                            uint64_t* end, RunReply* reply) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    PlacedTensor placed = DescribeTensor(outputs[k].get());
    placed.index = request.outputs[k];
    placed.offset = AlignUp(*end);
    *end = placed.offset + placed.size;
    reply->outputs.push_back(std::move(placed));
  }
  Status reserved = memory_->Reserve(*end);
  if (!reserved.ok()) return reserved;
  for (size_t k = 0; k < outputs.size(); ++k) {
    CopyTensor(outputs[k].get(), memory_->data() + reply->outputs[k].offset);
  }
  return {};
}

}  // namespace nereid_tensorflow
