// SPDX-License-Identifier: Apache-2.0
#include "backends/python/client_files.h"

#include <sys/stat.h>

#include <algorithm>

#include "backends/python/ipc/control.h"

namespace nereid_backend {

using nereid_python::Tensor;
using nereid_python::ValueWriter;

std::optional<ClientFiles::Part> ClientFiles::PartOf(const FileMemory& memory) {
  struct stat file {};
  if (fstat(memory.descriptor, &file) != 0) return std::nullopt;
  return Part{file.st_dev, file.st_ino, memory.offset, memory.offset + memory.size};
}

// Models see inputs where blocks begin, whoever made them: some libraries want that alignment.
std::optional<FileMemory> ClientFiles::MappedInput(const InputView& input) const {
  if (!maps_inputs_ || input.byte_size < nereid_python::kLeastLent ||
      input.type == TRITONSERVER_TYPE_BYTES) {
    return std::nullopt;
  }
  const std::optional<FileMemory> memory = FileMemoryOf(input);
  if (!memory.has_value() || memory->offset % nereid_python::kBlockAlignment != 0) {
    return std::nullopt;
  }
  return memory;
}

void ClientFiles::LookAt(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  if (!maps_inputs_ || !Error(TRITONBACKEND_RequestInputCount(request, &count)).ok()) return;
  for (uint32_t i = 0; i < count; ++i) {
    const Result<InputView> input = InputView::At(request, i);
    if (!input.ok()) continue;
    const std::optional<FileMemory> memory = MappedInput(*input);
    if (!memory.has_value()) continue;
    if (const std::optional<Part> part = PartOf(*memory); part.has_value()) {
      inputs_.push_back(*part);
    }
  }
}

bool ClientFiles::PassInput(const InputView& input, Tensor* tensor) {
  const std::optional<FileMemory> memory = MappedInput(input);
  if (!memory.has_value()) return false;
  const std::optional<uint64_t> number = transport_->SendFile(memory->descriptor);
  if (!number.has_value()) return false;
  tensor->file = Tensor::kClient;
  tensor->block = *number;
  tensor->offset = memory->offset;
  return true;
}

// A client may want an output where an input of the batch is, which other outputs may be views of.
// The server copies such an output when the process has written everything else.
bool ClientFiles::MayBeWritten(const FileMemory& memory) const {
  if (inputs_.empty()) return true;
  const std::optional<Part> part = PartOf(memory);
  return part.has_value() && std::none_of(inputs_.begin(), inputs_.end(),
                                          [&](const Part& input) { return input.Overlaps(*part); });
}

std::vector<OutputPlace> ClientFiles::PassOutputs(TRITONBACKEND_Request* request,
                                                  ValueWriter* places) {
  std::vector<OutputPlace> passed;
  ValueWriter tensors;
  uint32_t count = 0;
  if (transport_ == nullptr || !Error(TRITONBACKEND_RequestOutputCount(request, &count)).ok()) {
    count = 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (!Error(TRITONBACKEND_RequestOutputName(request, i, &name)).ok()) continue;
    const std::optional<FileMemory> memory = FileMemoryOf(request, name);
    if (!memory.has_value() || memory->size < nereid_python::kLeastLent || !MayBeWritten(*memory)) {
      continue;
    }
    const std::optional<uint64_t> number = transport_->SendFile(memory->descriptor);
    if (!number.has_value()) continue;
    Tensor place;
    place.name = name;
    place.type = TRITONSERVER_TYPE_UINT8;
    place.file = Tensor::kPlace;
    place.dims = {static_cast<int64_t>(memory->size)};
    place.block = *number;
    place.offset = memory->offset;
    place.size = memory->size;
    tensors.Put(place);
    passed.push_back({name, *memory});
  }
  places->List(passed.size());
  places->Append(tensors);
  return passed;
}

}  // namespace nereid_backend
