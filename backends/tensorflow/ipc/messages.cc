// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/ipc/messages.h"

namespace nereid_tensorflow {
namespace {

void PutStatus(const Status& status, Packer* packer) {
  packer->Number(status.code);
  packer->Text(status.message);
}

Status TakeStatus(Unpacker* unpacker) {
  Status status;
  const auto code = unpacker->Number<uint8_t>();
  status.code = code <= static_cast<uint8_t>(StatusCode::kInternal) ? static_cast<StatusCode>(code)
                                                                    : StatusCode::kInternal;
  status.message = unpacker->Text();
  return status;
}

void PutDescriptions(const std::vector<TensorDescription>& tensors, Packer* packer) {
  packer->Number<uint64_t>(tensors.size());
  for (const TensorDescription& tensor : tensors) {
    packer->Text(tensor.name);
    packer->Number(tensor.type);
    packer->Number<uint8_t>(tensor.rank_known);
    packer->Number<uint8_t>(tensor.has_default);
    packer->Shape(tensor.dims);
  }
}

std::vector<TensorDescription> TakeDescriptions(Unpacker* unpacker) {
  std::vector<TensorDescription> tensors(unpacker->Count(22));
  for (TensorDescription& tensor : tensors) {
    tensor.name = unpacker->Text();
    tensor.type = unpacker->Number<int32_t>();
    tensor.rank_known = unpacker->Number<uint8_t>() != 0;
    tensor.has_default = unpacker->Number<uint8_t>() != 0;
    tensor.dims = unpacker->Shape();
  }
  return tensors;
}

void PutPlaced(const std::vector<PlacedTensor>& tensors, Packer* packer) {
  packer->Number<uint64_t>(tensors.size());
  for (const PlacedTensor& tensor : tensors) {
    packer->Number(tensor.index);
    packer->Number(tensor.type);
    packer->Shape(tensor.dims);
    packer->Number(tensor.offset);
    packer->Number(tensor.size);
  }
}

std::vector<PlacedTensor> TakePlaced(Unpacker* unpacker) {
  std::vector<PlacedTensor> tensors(unpacker->Count(32));
  for (PlacedTensor& tensor : tensors) {
    tensor.index = unpacker->Number<uint32_t>();
    tensor.type = unpacker->Number<int32_t>();
    tensor.dims = unpacker->Shape();
    tensor.offset = unpacker->Number<uint64_t>();
    tensor.size = unpacker->Number<uint64_t>();
  }
  return tensors;
}

}  // namespace

std::string LoadRequest::Pack() const {
  Packer packer;
  packer.Number(format);
  packer.Text(path);
  packer.Text(tag);
  packer.Text(signature);
  packer.Text(session_config);
  packer.Number<uint8_t>(one_thread);
  packer.Texts(op_libraries);
  packer.Texts(init_ops);
  packer.Texts(graph_outputs);
  return packer.bytes();
}

bool LoadRequest::Unpack(std::string_view bytes, LoadRequest* request) {
  Unpacker unpacker(bytes);
  request->format =
      unpacker.Number<uint8_t>() == 0 ? ModelFormat::kSavedModel : ModelFormat::kGraphDef;
  request->path = unpacker.Text();
  request->tag = unpacker.Text();
  request->signature = unpacker.Text();
  request->session_config = unpacker.Text();
  request->one_thread = unpacker.Number<uint8_t>() != 0;
  request->op_libraries = unpacker.Texts();
  request->init_ops = unpacker.Texts();
  request->graph_outputs = unpacker.Texts();
  return unpacker.Done();
}

std::string LoadReply::Pack() const {
  Packer packer;
  PutStatus(status, &packer);
  packer.Text(runtime_version);
  packer.Text(signature);
  packer.Number<uint8_t>(fixed_order);
  PutDescriptions(inputs, &packer);
  PutDescriptions(outputs, &packer);
  return packer.bytes();
}

bool LoadReply::Unpack(std::string_view bytes, LoadReply* reply) {
  Unpacker unpacker(bytes);
  reply->status = TakeStatus(&unpacker);
  reply->runtime_version = unpacker.Text();
  reply->signature = unpacker.Text();
  reply->fixed_order = unpacker.Number<uint8_t>() != 0;
  reply->inputs = TakeDescriptions(&unpacker);
  reply->outputs = TakeDescriptions(&unpacker);
  return unpacker.Done();
}

std::string PackStatus(const Status& status) {
  Packer packer;
  PutStatus(status, &packer);
  return packer.bytes();
}

bool UnpackStatus(std::string_view bytes, Status* status) {
  Unpacker unpacker(bytes);
  *status = TakeStatus(&unpacker);
  return unpacker.Done();
}

void RunRequest::PackTo(Packer* packer) const {
  packer->Clear();
  PutPlaced(inputs, packer);
  packer->Number<uint64_t>(outputs.size());
  for (const uint32_t output : outputs) packer->Number(output);
  packer->Number(outputs_offset);
}

bool RunRequest::Unpack(std::string_view bytes, RunRequest* request) {
  Unpacker unpacker(bytes);
  request->inputs = TakePlaced(&unpacker);
  request->outputs.resize(unpacker.Count(sizeof(uint32_t)));
  for (uint32_t& output : request->outputs) output = unpacker.Number<uint32_t>();
  request->outputs_offset = unpacker.Number<uint64_t>();
  return unpacker.Done();
}

std::string RunReply::Pack() const {
  Packer packer;
  PutStatus(status, &packer);
  PutPlaced(outputs, &packer);
  return packer.bytes();
}

bool RunReply::Unpack(std::string_view bytes, uint64_t memory_size, RunReply* reply) {
  Unpacker unpacker(bytes);
  reply->status = TakeStatus(&unpacker);
  reply->outputs = TakePlaced(&unpacker);
  for (const PlacedTensor& tensor : reply->outputs) {
    if (tensor.offset > memory_size || tensor.size > memory_size - tensor.offset) return false;
  }
  return unpacker.Done();
}

}  // namespace nereid_tensorflow
